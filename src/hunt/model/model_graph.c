#include "model_graph.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

enum { OBJECT_BITS = 5, RENEW_BIT = 4 };

void mr_graph_free(mr_graph *graph)
{
    free(graph->pieces);
    free(graph->nodes);
    free(graph->edges);
    free(graph->access_pieces);
    free(graph->values);
    free(graph->conflicts);
    free(graph->of);
    free(graph->futures);
    free(graph->initial);
    free(graph->roots);
    mr_map_free(&graph->value_numbers);
    *graph = (mr_graph){.model = NULL};
}

/* ---- pieces ---- */

static int compare_pieces(const void *a, const void *b)
{
    const mr_graph_piece *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

static bool add_piece(mr_graph *graph, uint64_t address)
{
    if (!mr_grow((void **)&graph->pieces, &graph->piece_capacity, graph->piece_count + 1,
                 sizeof *graph->pieces))
        return false;
    graph->pieces[graph->piece_count++] =
        (mr_graph_piece){.address = address, .number = MR_PMODEL_NONE};
    return true;
}

/* The first piece that ends after the address. */
static size_t find_piece(const mr_graph *graph, uint64_t address)
{
    size_t low = 0, high = graph->piece_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (graph->pieces[middle].address + graph->pieces[middle].bytes <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool cut(mr_graph *graph, const mr_pmodel_op *op)
{
    uint64_t end = op->address + op->bytes;
    for (uint64_t at = op->address; at < end; at = (at & ~(uint64_t)7) + 8)
        if (!add_piece(graph, at))
            return false;
    return add_piece(graph, end);
}

/* Sorted, each address once; a piece ends where the next one begins. */
static void settle_cuts(mr_graph *graph)
{
    size_t kept = 0;
    if (graph->piece_count)
        qsort(graph->pieces, graph->piece_count, sizeof *graph->pieces, compare_pieces);
    for (size_t i = 0; i < graph->piece_count; i++)
        if (!kept || graph->pieces[kept - 1].address != graph->pieces[i].address)
            graph->pieces[kept++] = graph->pieces[i];
    graph->piece_count = kept;
    for (size_t i = 0; i < kept; i++) {
        uint64_t length =
            i + 1 < kept ? graph->pieces[i + 1].address - graph->pieces[i].address : 0;
        graph->pieces[i].bytes = length > 8 ? 8 : (uint32_t)length; /* beyond is nobody's */
    }
}

static bool can_write(const mr_pmodel *model, const mr_pmodel_node *node)
{
    if (node->op.kind != MR_PMODEL_UPDATE)
        return node->op.kind == MR_PMODEL_WRITE || node->op.kind == MR_PMODEL_FREE;
    for (uint32_t e = node->edges; e != MR_PMODEL_NONE; e = model->edges[e].next)
        if (model->edges[e].written != MR_PMODEL_NONE)
            return true;
    return false;
}

static void note_access(mr_graph *graph, const mr_pmodel_node *node)
{
    uint64_t end = node->op.address + node->op.bytes, bit = (uint64_t)1 << node->thread;
    bool writes = can_write(graph->model, node);
    bool varies = graph->model->merges && node->edges != MR_PMODEL_NONE &&
                  graph->model->edges[node->edges].next != MR_PMODEL_NONE;
    for (size_t i = find_piece(graph, node->op.address);
         i < graph->piece_count && graph->pieces[i].address < end; i++) {
        graph->pieces[i].writers |= writes ? bit : 0;
        graph->pieces[i].readers |= bit;
        graph->pieces[i].varies = graph->pieces[i].varies || varies;
    }
}

static bool make_pieces(mr_graph *graph)
{
    const mr_pmodel *model = graph->model;
    for (uint32_t i = 0; i < model->node_count; i++) {
        uint8_t kind = model->nodes[i].op.kind;
        if (mr_pmodel_is_access(kind) && kind != MR_PMODEL_FREE && !cut(graph, &model->nodes[i].op))
            return false;
    }
    settle_cuts(graph);
    for (uint32_t i = 0; i < model->node_count; i++)
        if (mr_pmodel_is_access(model->nodes[i].op.kind))
            note_access(graph, &model->nodes[i]);
    for (size_t i = 0; i < graph->piece_count; i++) {
        mr_graph_piece *piece = &graph->pieces[i];
        bool is_shared = piece->writers && (piece->readers & (piece->readers - 1));
        if (piece->bytes && (is_shared || piece->varies))
            piece->number = graph->tracked++;
    }
    return true;
}

/* ---- values ---- */

static uint64_t extract(const uint8_t *bytes, uint32_t count)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < count; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static uint32_t value_number(mr_graph *graph, uint64_t value)
{
    uint32_t *number = mr_map_at(&graph->value_numbers, value, graph->value_numbers.count + 1);
    return number ? *number : MR_PMODEL_NONE;
}

/* What was there at first; 0: not known. */
static uint32_t initial_value(mr_graph *graph, const mr_graph_piece *piece)
{
    const mr_pmodel_word *word =
        mr_pmodel_word_at(&graph->model->initial, piece->address & ~(uint64_t)7);
    unsigned first = piece->address & 7;
    for (unsigned i = 0; i < piece->bytes; i++)
        if (!word || !(word->known >> (first + i) & 1))
            return 0;
    uint64_t value = word->value >> 8 * first;
    return value_number(graph, piece->bytes == 8 ? value
                                                 : value & (((uint64_t)1 << 8 * piece->bytes) - 1));
}

static bool make_initial(mr_graph *graph)
{
    graph->initial = mr_calloc(graph->tracked + 1ull, sizeof *graph->initial);
    for (size_t i = 0; graph->initial && i < graph->piece_count; i++)
        if (graph->pieces[i].number != MR_PMODEL_NONE) {
            uint32_t number = initial_value(graph, &graph->pieces[i]);
            if (number == MR_PMODEL_NONE)
                return false;
            graph->initial[graph->pieces[i].number] = number;
        }
    return graph->initial != NULL;
}

/* The values of the tracked pieces of an access, from its bytes. MR_PMODEL_NONE: no memory. */
static uint32_t add_values(mr_graph *graph, const mr_pmodel_op *op, const uint8_t *bytes)
{
    uint32_t first = (uint32_t)graph->value_count;
    for (size_t i = find_piece(graph, op->address);
         i < graph->piece_count && graph->pieces[i].address < op->address + op->bytes; i++) {
        const mr_graph_piece *piece = &graph->pieces[i];
        if (piece->number == MR_PMODEL_NONE)
            continue;
        uint32_t number =
            value_number(graph, extract(bytes + (piece->address - op->address), piece->bytes));
        if (number == MR_PMODEL_NONE || !mr_grow((void **)&graph->values, &graph->value_capacity,
                                                 graph->value_count + 1, sizeof *graph->values))
            return MR_PMODEL_NONE;
        graph->values[graph->value_count++] = number;
    }
    return first;
}

/* ---- nodes ---- */

static bool is_shared(const mr_graph *graph, const mr_pmodel_op *op)
{
    for (size_t i = find_piece(graph, op->address);
         i < graph->piece_count && graph->pieces[i].address < op->address + op->bytes; i++)
        if (graph->pieces[i].number != MR_PMODEL_NONE)
            return true;
    return false;
}

static uint32_t add_node(mr_graph *graph, uint32_t model_node, bool loops)
{
    const mr_pmodel_node *from = &graph->model->nodes[model_node];
    if (!mr_grow((void **)&graph->nodes, &graph->node_capacity, graph->node_count + (size_t)1,
                 sizeof *graph->nodes))
        return MR_PMODEL_NONE;
    const mr_pmodel_op *op = &from->op;
    graph->nodes[graph->node_count] = (mr_graph_node){.kind = loops ? MR_PMODEL_UNKNOWN : op->kind,
                                                      .is_atomic = op->is_atomic,
                                                      .is_timed = op->is_timed,
                                                      .is_once = op->is_once,
                                                      .loops = loops,
                                                      .can_write = can_write(graph->model, from),
                                                      .model = model_node,
                                                      .object = op->object,
                                                      .other = op->other,
                                                      .freed = MR_PMODEL_NONE,
                                                      .piece = (uint32_t)graph->access_piece_count};
    return graph->node_count++;
}

/* Passes over what nobody else notices. */
static bool resolve(mr_graph *graph, uint32_t start)
{
    const mr_pmodel *model = graph->model;
    uint32_t at = start, steps = 0;
    bool loops = false;
    while (graph->of[at] == MR_PMODEL_NONE) {
        const mr_pmodel_node *node = &model->nodes[at];
        if (!mr_pmodel_is_access(node->op.kind) || is_shared(graph, &node->op) ||
            node->edges == MR_PMODEL_NONE)
            break;
        if (model->edges[node->edges].next != MR_PMODEL_NONE)
            graph->ambiguous = at;
        if (steps++ > model->node_count) {
            loops = true;
            break;
        }
        at = model->edges[node->edges].to;
    }
    uint32_t found = graph->of[at];
    if (found == MR_PMODEL_NONE)
        found = add_node(graph, at, loops);
    if (found == MR_PMODEL_NONE)
        return false;
    if (graph->nodes[found].kind != MR_PMODEL_UNKNOWN && !loops &&
        mr_pmodel_is_access(graph->nodes[found].kind) &&
        model->nodes[graph->nodes[found].model].edges == MR_PMODEL_NONE)
        graph->nodes[found].kind = MR_PMODEL_UNKNOWN;
    graph->of[at] = found;
    for (uint32_t i = start; graph->of[i] == MR_PMODEL_NONE;) { /* all on the way */
        graph->of[i] = found;
        i = model->edges[model->nodes[i].edges].to;
    }
    return true;
}

static bool make_access(mr_graph *graph, mr_graph_node *node, const mr_pmodel_op *op)
{
    node->piece = (uint32_t)graph->access_piece_count;
    for (size_t i = find_piece(graph, op->address);
         i < graph->piece_count && graph->pieces[i].address < op->address + op->bytes; i++) {
        if (graph->pieces[i].number == MR_PMODEL_NONE)
            continue;
        if (!mr_grow((void **)&graph->access_pieces, &graph->access_piece_capacity,
                     graph->access_piece_count + 1, sizeof *graph->access_pieces))
            return false;
        graph->access_pieces[graph->access_piece_count++] = graph->pieces[i].number;
        node->piece_count++;
    }
    return true;
}

/* The edges of a node; their targets become nodes. */
static bool make_edges(mr_graph *graph, uint32_t number)
{
    const mr_pmodel *model = graph->model;
    const mr_pmodel_node *from = &model->nodes[graph->nodes[number].model];
    const mr_pmodel_op *op = &from->op;
    if (graph->nodes[number].kind == MR_PMODEL_UNKNOWN)
        return true;
    if (mr_pmodel_is_access(op->kind) && !make_access(graph, &graph->nodes[number], op))
        return false;
    graph->nodes[number].edge = graph->edge_count;
    for (uint32_t e = from->edges; e != MR_PMODEL_NONE; e = model->edges[e].next) {
        const mr_pmodel_edge *edge = &model->edges[e];
        mr_graph_edge made = {edge->outcome, MR_PMODEL_NONE, MR_PMODEL_NONE, MR_PMODEL_NONE, e};
        bool reads = mr_pmodel_reads(op->kind), writes = edge->written != MR_PMODEL_NONE;
        if (reads)
            made.seen = add_values(graph, op, mr_pmodel_blob_at(model, edge->outcome));
        if (writes)
            made.written = add_values(graph, op, mr_pmodel_blob_at(model, edge->written));
        if ((reads && made.seen == MR_PMODEL_NONE) || (writes && made.written == MR_PMODEL_NONE) ||
            !resolve(graph, edge->to) ||
            !mr_grow((void **)&graph->edges, &graph->edge_capacity, graph->edge_count + (size_t)1,
                     sizeof *graph->edges))
            return false;
        made.to = graph->of[edge->to];
        graph->edges[graph->edge_count++] = made;
        graph->nodes[number].edge_count++;
    }
    return true;
}

static bool make_nodes(mr_graph *graph)
{
    const mr_pmodel *model = graph->model;
    graph->of = mr_calloc(model->node_count + 1ull, sizeof *graph->of);
    graph->roots = mr_calloc(model->thread_count + 1ull, sizeof *graph->roots);
    if (!graph->of || !graph->roots)
        return false;
    memset(graph->of, 0xFF, (model->node_count + 1ull) * sizeof *graph->of);
    for (uint32_t i = 0; i < model->node_count; i++)
        graph->has_heads = graph->has_heads || model->nodes[i].is_head;
    for (uint32_t t = 0; t < model->thread_count; t++) {
        if (!resolve(graph, model->threads[t].root))
            return false;
        graph->roots[t] = graph->of[model->threads[t].root];
    }
    for (uint32_t i = 0; i < graph->node_count; i++)
        if (!make_edges(graph, i))
            return false;
    return true;
}

/* ---- what an operation is to others ---- */

static uint32_t object_bit(const mr_graph *graph, uint32_t object, unsigned which)
{
    return 2 * graph->tracked + OBJECT_BITS * object + which;
}

typedef struct bits {
    uint32_t has[2], conflicts[4]; /* of objects: which bits */
    unsigned has_count, conflict_count;
} bits;

/* Of an operation on an object. The numbers of a lock: 0 exclusive, 1 shared, 2 try, 3 release; of a
 * semaphore: 0 wait, 1 try, 2 post; of a condition variable: 0 sleep, 1 wake others, 2 wake by time;
 * of others: 0. */
static bits bits_of(uint8_t kind, bool is_timed)
{
    switch (kind) {
    case MR_PMODEL_LOCK:
        return (bits){{0}, {0, 1, 2}, 1, 3};
    case MR_PMODEL_LOCK_SHARED:
        return (bits){{1}, {0, 2}, 1, 2};
    case MR_PMODEL_TRY:
        return (bits){{2}, {0, 1, 2, 3}, 1, 4};
    case MR_PMODEL_TRY_SHARED:
        return (bits){{2}, {0, 1, 2, 3}, 1, 4};
    case MR_PMODEL_UNLOCK:
    case MR_PMODEL_UNLOCK_SHARED:
        return (bits){{3}, {2}, 1, 1};
    case MR_PMODEL_WAIT:
        return (bits){{0}, {0, 1}, 1, 2};
    case MR_PMODEL_TRY_WAIT:
        return (bits){{1}, {0, 1, 2}, 1, 3};
    case MR_PMODEL_POST:
        return (bits){{2}, {1}, 1, 1};
    case MR_PMODEL_SLEEP:
        return (bits){{0}, {1}, 1, 1};
    case MR_PMODEL_SIGNAL:
    case MR_PMODEL_BROADCAST:
        return (bits){{1}, {0, 1, 2}, 1, 3};
    case MR_PMODEL_WAKE:
        return is_timed ? (bits){{2}, {1}, 1, 1} : (bits){{3}, {0}, 1, 0};
    case MR_PMODEL_ARRIVE:
    case MR_PMODEL_ORDER:
        return (bits){{0}, {0}, 1, 1};
    case MR_PMODEL_PASS:
        return (bits){{1}, {0}, 1, 0};
    case MR_PMODEL_RENEW:
        return (bits){{RENEW_BIT}, {0, 1, 2, 3}, 1, 4};
    default:
        return (bits){{0}, {0}, 0, 0};
    }
}

static bool add_conflict(mr_graph *graph, mr_graph_node *node, uint32_t bit)
{
    if (!mr_grow((void **)&graph->conflicts, &graph->conflict_capacity, graph->conflict_count + 1,
                 sizeof *graph->conflicts))
        return false;
    graph->conflicts[graph->conflict_count++] = bit;
    node->conflict_count++;
    return true;
}

static void set_bit(mr_graph *graph, uint32_t node, uint32_t bit)
{
    graph->futures[(size_t)node * graph->future_words + bit / 64] |= (uint64_t)1 << bit % 64;
}

static bool access_bits(mr_graph *graph, uint32_t number)
{
    mr_graph_node *node = &graph->nodes[number];
    bool reads = node->kind == MR_PMODEL_READ || node->kind == MR_PMODEL_UPDATE;
    for (uint32_t i = 0; i < node->piece_count; i++) {
        uint32_t piece = graph->access_pieces[node->piece + i];
        if (reads)
            set_bit(graph, number, 2 * piece);
        if (node->can_write)
            set_bit(graph, number, 2 * piece + 1);
        if (!add_conflict(graph, node, 2 * piece + 1) ||
            (node->can_write && !add_conflict(graph, node, 2 * piece)))
            return false;
    }
    return true;
}

static bool own_bits(mr_graph *graph, uint32_t number)
{
    mr_graph_node *node = &graph->nodes[number];
    node->conflict = (uint32_t)graph->conflict_count;
    if (mr_pmodel_is_access(node->kind))
        return access_bits(graph, number);
    bits its = bits_of(node->kind, node->is_timed);
    for (unsigned i = 0; i < its.has_count; i++)
        set_bit(graph, number, object_bit(graph, node->object, its.has[i]));
    for (unsigned i = 0; i < its.conflict_count; i++)
        if (!add_conflict(graph, node, object_bit(graph, node->object, its.conflicts[i])))
            return false;
    if (its.has_count && !add_conflict(graph, node, object_bit(graph, node->object, RENEW_BIT)))
        return false;
    if (node->kind != MR_PMODEL_SLEEP)
        return true;
    set_bit(graph, number, object_bit(graph, node->other, 3));
    return add_conflict(graph, node, object_bit(graph, node->other, 2)) &&
           add_conflict(graph, node, object_bit(graph, node->other, RENEW_BIT));
}

/* ---- futures ---- */

static bool add_future(mr_graph *graph, uint32_t to, uint32_t from)
{
    uint64_t *its = graph->futures + (size_t)to * graph->future_words, changed = 0;
    const uint64_t *other = graph->futures + (size_t)from * graph->future_words;
    for (uint32_t i = 0; i < graph->future_words; i++) {
        changed |= other[i] & ~its[i];
        its[i] |= other[i];
    }
    return changed != 0;
}

static uint64_t joined_after(const mr_graph *graph, const mr_graph_node *node)
{
    if (node->kind == MR_PMODEL_EXIT)
        return 0;
    uint64_t joined = UINT64_MAX;
    for (uint32_t e = 0; e < node->edge_count; e++)
        joined &= graph->nodes[graph->edges[node->edge + e].to].joined;
    /* What it creates is another thread with an end of its own. */
    if (node->kind == MR_PMODEL_FORK)
        joined &= graph->nodes[graph->roots[node->object]].joined;
    return node->kind == MR_PMODEL_JOIN ? joined | (uint64_t)1 << node->object : joined;
}

/* One round, backwards, because targets mostly have higher numbers. */
static bool propagate(mr_graph *graph)
{
    bool changed = false;
    for (uint32_t i = graph->node_count; i-- > 0;) {
        mr_graph_node *node = &graph->nodes[i];
        for (uint32_t e = 0; e < node->edge_count; e++)
            changed |= add_future(graph, i, graph->edges[node->edge + e].to);
        if (node->kind == MR_PMODEL_FORK)
            changed |= add_future(graph, i, graph->roots[node->object]);
        uint64_t joined = joined_after(graph, node);
        changed |= joined != node->joined;
        node->joined = joined;
    }
    return changed;
}

/* From the roots on: targets that are not known yet are told what was freed before. */
static bool find_freed(mr_graph *graph)
{
    uint32_t *left = mr_malloc((graph->node_count + 1ull) * sizeof *left, 0), count = 0;
    bool *is_known = mr_calloc(graph->node_count + 1ull, sizeof *is_known);
    bool ok = left && is_known;
    for (uint32_t t = 0; ok && t < graph->model->thread_count; t++) {
        left[count++] = graph->roots[t];
        is_known[graph->roots[t]] = true;
    }
    while (ok && count) {
        uint32_t number = left[--count];
        const mr_graph_node *node = &graph->nodes[number];
        graph->has_frees = graph->has_frees || node->kind == MR_PMODEL_FREE;
        for (uint32_t e = 0; e < node->edge_count; e++) {
            uint32_t to = graph->edges[node->edge + e].to;
            if (is_known[to])
                continue;
            is_known[to] = true;
            graph->nodes[to].freed = node->kind == MR_PMODEL_FREE ? number : node->freed;
            left[count++] = to;
        }
    }
    free(left);
    free(is_known);
    return ok;
}

static bool make_futures(mr_graph *graph)
{
    uint32_t bit_count = 2 * graph->tracked + OBJECT_BITS * graph->object_count;
    graph->future_words = bit_count / 64 + 1;
    graph->futures =
        mr_calloc((size_t)graph->node_count * graph->future_words + 1, sizeof *graph->futures);
    if (!graph->futures)
        return false;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        graph->nodes[i].joined = UINT64_MAX;
        if (!own_bits(graph, i))
            return false;
    }
    while (propagate(graph)) {
    }
    return true;
}

mr_status mr_graph_make(mr_graph *graph, const mr_pmodel *model, mr_error *error)
{
    *graph = (mr_graph){
        .model = model, .object_count = model->object_count, .ambiguous = MR_PMODEL_NONE};
    if (make_pieces(graph) && make_initial(graph) && make_nodes(graph) && make_futures(graph) &&
        find_freed(graph))
        return MR_OK;
    mr_graph_free(graph);
    return mr_error_memory(error, "making the graph of a model");
}

bool mr_graph_is_strange(const mr_graph *graph)
{
    const mr_pmodel_memory *strange = &graph->model->strange;
    for (size_t i = 0; i < graph->piece_count; i++) {
        const mr_graph_piece *piece = &graph->pieces[i];
        const mr_pmodel_word *word = mr_pmodel_word_at(strange, piece->address & ~(uint64_t)7);
        unsigned first = piece->address & 7;
        if (piece->number != MR_PMODEL_NONE && word &&
            (word->known >> first & ((1u << piece->bytes) - 1)))
            return true;
    }
    return false;
}
