#include "model.h"

#include "base/assert.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[MR_PMODEL_KIND_COUNT] = {
    [MR_PMODEL_UNKNOWN] = "unknown",
    [MR_PMODEL_READ] = "read",
    [MR_PMODEL_WRITE] = "write",
    [MR_PMODEL_UPDATE] = "atomic update",
    [MR_PMODEL_FREE] = "free",
    [MR_PMODEL_LOCK] = "lock",
    [MR_PMODEL_LOCK_SHARED] = "shared lock",
    [MR_PMODEL_UNLOCK] = "unlock",
    [MR_PMODEL_UNLOCK_SHARED] = "shared unlock",
    [MR_PMODEL_TRY] = "try to lock",
    [MR_PMODEL_TRY_SHARED] = "try to share",
    [MR_PMODEL_POST] = "post",
    [MR_PMODEL_WAIT] = "wait",
    [MR_PMODEL_TRY_WAIT] = "try to wait",
    [MR_PMODEL_SLEEP] = "sleep",
    [MR_PMODEL_WAKE] = "wake",
    [MR_PMODEL_SIGNAL] = "signal",
    [MR_PMODEL_BROADCAST] = "broadcast",
    [MR_PMODEL_ARRIVE] = "barrier",
    [MR_PMODEL_PASS] = "pass a barrier",
    [MR_PMODEL_RENEW] = "init or destroy",
    [MR_PMODEL_ORDER] = "order",
    [MR_PMODEL_FORK] = "create",
    [MR_PMODEL_JOIN] = "join",
    [MR_PMODEL_END] = "end",
    [MR_PMODEL_EXIT] = "exit",
};

const char *mr_pmodel_kind_name(mr_pmodel_kind kind)
{
    return kind_names[kind];
}

static void free_memory(mr_pmodel_memory *memory)
{
    mr_map_free(&memory->places);
    free(memory->words);
}

void mr_pmodel_free(mr_pmodel *model)
{
    free(model->nodes);
    free(model->edges);
    free(model->blobs);
    free(model->threads);
    free(model->objects);
    free(model->pool);
    free(model->words);
    mr_map_free(&model->states);
    mr_table_free(&model->blob_table);
    for (size_t i = 0; i < sizeof model->object_map / sizeof *model->object_map; i++)
        mr_map_free(&model->object_map[i]);
    free_memory(&model->initial);
    free_memory(&model->strange);
    *model = (mr_pmodel){.nodes = NULL};
}

void mr_pmodel_run_free(mr_pmodel_run *run)
{
    for (size_t i = 0; i < run->place_count; i++)
        free(run->places[i].visits);
    free(run->places);
    free_memory(&run->memory);
    *run = (mr_pmodel_run){.places = NULL};
}

/* Room for one more; the array and its capacity are those of the model. */
#define ROOM(model, array, count, capacity)                                                        \
    mr_grow((void **)&(model)->array, &(model)->capacity, (model)->count + (size_t)1,              \
            sizeof *(model)->array)

static uint32_t add_node(mr_pmodel *model, uint32_t thread)
{
    if (model->node_count >= MR_PMODEL_NONE - 1u || !ROOM(model, nodes, node_count, node_capacity))
        return MR_PMODEL_NONE;
    model->nodes[model->node_count] =
        (mr_pmodel_node){.edges = MR_PMODEL_NONE, .parent = MR_PMODEL_NONE, .thread = thread};
    return model->node_count++;
}

uint32_t mr_pmodel_thread_of(mr_pmodel *model, uint32_t parent, uint32_t nth)
{
    for (uint32_t i = 0; i < model->thread_count; i++)
        if (model->threads[i].parent == parent && model->threads[i].nth == nth)
            return i;
    if (model->thread_count == MR_PMODEL_THREADS_MAX ||
        !ROOM(model, threads, thread_count, thread_capacity))
        return MR_PMODEL_NONE;
    uint32_t root = add_node(model, model->thread_count);
    if (root == MR_PMODEL_NONE)
        return MR_PMODEL_NONE;
    model->threads[model->thread_count] = (mr_pmodel_thread){parent, nth, root, 0};
    model->version++;
    return model->thread_count++;
}

uint32_t mr_pmodel_object_of(mr_pmodel *model, mr_pmodel_role role, uint64_t address)
{
    uint32_t *at = mr_map_at(&model->object_map[role], address, MR_PMODEL_NONE);
    if (!at || (*at == MR_PMODEL_NONE && !ROOM(model, objects, object_count, object_capacity)))
        return MR_PMODEL_NONE;
    if (*at == MR_PMODEL_NONE) {
        model->objects[model->object_count] = (mr_pmodel_object){address, (uint8_t)role, false};
        *at = model->object_count++;
    }
    return *at;
}

/* ---- bytes ---- */

typedef struct blob_key {
    const mr_pmodel *model;
    const void *bytes;
    uint32_t count;
} blob_key;

static uint32_t hash_bytes(const uint8_t *bytes, uint32_t count)
{
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return mr_table_hash_u64(hash);
}

static bool same_blob(const void *items, uint32_t number, const void *key)
{
    const blob_key *wanted = key;
    const mr_pmodel_blob *blob = &((const mr_pmodel_blob *)items)[number];
    return blob->bytes == wanted->count &&
           memcmp(wanted->model->pool + blob->at, wanted->bytes, wanted->count) == 0;
}

/* The model is what the table calls its items. */
static uint32_t hash_blob(const void *items, uint32_t number)
{
    const mr_pmodel *model = items;
    return hash_bytes(model->pool + model->blobs[number].at, model->blobs[number].bytes);
}

uint32_t mr_pmodel_bytes(mr_pmodel *model, const void *bytes, uint32_t count)
{
    const blob_key key = {model, bytes, count};
    if (!mr_table_reserve(&model->blob_table, model->blob_count + 1, hash_blob, model,
                          model->blob_count) ||
        !ROOM(model, blobs, blob_count, blob_capacity) ||
        !mr_grow((void **)&model->pool, &model->pool_capacity, model->pool_count + count + 8, 1))
        return MR_PMODEL_NONE;
    uint32_t *slot =
        mr_table_slot(&model->blob_table, hash_bytes(bytes, count), same_blob, model->blobs, &key);
    if (!*slot) {
        memcpy(model->pool + model->pool_count, bytes, count);
        model->blobs[model->blob_count++] = (mr_pmodel_blob){model->pool_count, count};
        model->pool_count += count;
        *slot = model->blob_count;
    }
    return *slot - 1;
}

/* ---- memory of a run ---- */

const mr_pmodel_word *mr_pmodel_word_at(const mr_pmodel_memory *memory, uint64_t address)
{
    uint32_t at = mr_map_get(&memory->places, address, MR_PMODEL_NONE);
    return at == MR_PMODEL_NONE ? NULL : &memory->words[at];
}

static mr_pmodel_word *word_of(mr_pmodel_memory *memory, uint64_t address)
{
    uint32_t *at = mr_map_at(&memory->places, address, MR_PMODEL_NONE);
    if (!at)
        return NULL;
    if (*at == MR_PMODEL_NONE) {
        if (!ROOM(memory, words, count, capacity))
            return NULL;
        memory->words[memory->count] = (mr_pmodel_word){.address = address};
        *at = (uint32_t)memory->count++;
    }
    return &memory->words[*at];
}

static void put_byte(mr_pmodel_word *word, unsigned byte, uint8_t value)
{
    word->value = (word->value & ~((uint64_t)0xff << 8 * byte)) | (uint64_t)value << 8 * byte;
    word->known |= (uint8_t)(1u << byte);
}

/* A byte that is read: what the run has written there, else what was there at first. */
static bool see_byte(mr_pmodel *model, mr_pmodel_run *run, uint64_t address, uint8_t value)
{
    unsigned byte = address & 7;
    mr_pmodel_word *now = word_of(&run->memory, address & ~(uint64_t)7);
    if (!now)
        return false;
    bool known = now->known >> byte & 1;
    if (known && (uint8_t)(now->value >> 8 * byte) == value)
        return true;
    mr_pmodel_word *other =
        word_of(known ? &model->strange : &model->initial, address & ~(uint64_t)7);
    if (!other)
        return false;
    if (!known && other->known >> byte & 1 && (uint8_t)(other->value >> 8 * byte) != value) {
        other = word_of(&model->strange, address & ~(uint64_t)7);
        if (!other)
            return false;
        known = true;
    }
    model->version += !(other->known >> byte & 1);
    if (known || !(other->known >> byte & 1))
        put_byte(other, byte, value);
    put_byte(now, byte, value);
    return true;
}

static bool write_bytes(mr_pmodel_run *run, uint64_t address, const uint8_t *bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        mr_pmodel_word *word = word_of(&run->memory, (address + i) & ~(uint64_t)7);
        if (!word)
            return false;
        put_byte(word, (address + i) & 7, bytes[i]);
    }
    return true;
}

static bool learn_memory(mr_pmodel *model, mr_pmodel_run *run, const mr_pmodel_event *event)
{
    const uint8_t *seen = event->seen;
    for (uint32_t i = 0; mr_pmodel_reads(event->op.kind) && i < event->op.bytes; i++)
        if (!see_byte(model, run, event->op.address + i, seen[i]))
            return false;
    return !event->written || write_bytes(run, event->op.address, event->written, event->op.bytes);
}

/* ---- learning ---- */

static mr_pmodel_place *place_of(mr_pmodel *model, mr_pmodel_run *run, uint32_t thread)
{
    if (!mr_grow((void **)&run->places, &run->place_capacity, thread + (size_t)1,
                 sizeof *run->places))
        return NULL;
    for (; run->place_count <= thread; run->place_count++)
        run->places[run->place_count] =
            (mr_pmodel_place){.node = MR_PMODEL_NONE, .last_edge = MR_PMODEL_NONE};
    mr_pmodel_place *place = &run->places[thread];
    if (place->node == MR_PMODEL_NONE)
        place->node = model->threads[thread].root;
    return place;
}

uint32_t mr_pmodel_run_node(mr_pmodel *model, mr_pmodel_run *run, uint32_t thread)
{
    const mr_pmodel_place *place = place_of(model, run, thread);
    return place ? place->node : MR_PMODEL_NONE;
}

uint32_t mr_pmodel_edge_of(const mr_pmodel *model, uint32_t node, uint32_t outcome)
{
    uint32_t edge = model->nodes[node].edges;
    while (edge != MR_PMODEL_NONE && model->edges[edge].outcome != outcome)
        edge = model->edges[edge].next;
    return edge;
}

/* Does the operation change something beside the thread's stack and its locks? */
static bool has_effect(const mr_pmodel_event *event)
{
    switch (event->op.kind) {
    case MR_PMODEL_READ:
    case MR_PMODEL_LOCK:
    case MR_PMODEL_LOCK_SHARED:
    case MR_PMODEL_UNLOCK:
    case MR_PMODEL_UNLOCK_SHARED:
    case MR_PMODEL_TRY:
    case MR_PMODEL_TRY_SHARED:
        return false;
    case MR_PMODEL_TRY_WAIT:
        return event->outcome != 0;
    case MR_PMODEL_WRITE:
        return !event->on_own_stack;
    case MR_PMODEL_UPDATE:
        return event->written && memcmp(event->seen, event->written, event->op.bytes) != 0;
    default:
        return true;
    }
}

/* As a sum, so that a lock that is released again is as if it had not been taken. */
static uint64_t held_after(uint64_t held, const mr_pmodel_event *event)
{
    uint64_t lock = (event->op.object + 1) * UINT64_C(0x9e3779b97f4a7c15);
    switch (event->op.kind) {
    case MR_PMODEL_LOCK:
        return held + lock;
    case MR_PMODEL_UNLOCK:
        return held - lock;
    case MR_PMODEL_LOCK_SHARED:
        return held + 3 * lock;
    case MR_PMODEL_UNLOCK_SHARED:
        return held - 3 * lock;
    case MR_PMODEL_TRY:
        return event->outcome ? held + lock : held;
    case MR_PMODEL_TRY_SHARED:
        return event->outcome ? held + 3 * lock : held;
    default:
        return held;
    }
}

static bool same_op(const mr_pmodel_op *a, const mr_pmodel_op *b)
{
    return a->kind == b->kind && a->is_atomic == b->is_atomic && a->is_timed == b->is_timed &&
           a->is_once == b->is_once && a->bytes == b->bytes && a->object == b->object &&
           a->other == b->other && a->address == b->address && a->code == b->code;
}

static mr_pmodel_fit differ(mr_pmodel_run *run, const mr_pmodel_node *node, const mr_pmodel_op *op,
                            const char *what)
{
    snprintf(run->problem, sizeof run->problem,
             "thread %" PRIu32 " did not do what it did before after the same history: %s "
             "(%s of 0x%" PRIx64 " at 0x%" PRIx64 ", then %s of 0x%" PRIx64 " at 0x%" PRIx64 ")",
             node->thread, what, kind_names[node->op.kind], node->op.address, node->op.code,
             kind_names[op->kind], op->address, op->code);
    return MR_PMODEL_DIFFERS;
}

/* The node where the thread stands is one that it has been to (model.h). */
static void fold(mr_pmodel *model, mr_pmodel_place *place, const mr_pmodel_event *event)
{
    if (model->nodes[place->node].op.kind != MR_PMODEL_UNKNOWN ||
        place->last_edge == MR_PMODEL_NONE)
        return;
    for (size_t i = place->visit_count; i > 0; i--) {
        const mr_pmodel_visit *visit = &place->visits[i - 1];
        if (visit->state == event->state && visit->held == place->held &&
            visit->node != place->node && same_op(&model->nodes[visit->node].op, &event->op)) {
            model->edges[place->last_edge].to = visit->node;
            model->nodes[visit->node].is_head = true;
            place->node = visit->node;
            model->version++;
            return;
        }
    }
}

static bool keep_words(mr_pmodel *model, mr_pmodel_node *node, const mr_pmodel_event *event)
{
    if (!mr_grow((void **)&model->words, &model->words_capacity,
                 model->words_count + event->word_count + 1, sizeof *model->words))
        return false;
    node->words = model->words_count;
    node->word_count = event->word_count;
    if (event->word_count)
        memcpy(model->words + node->words, event->words, event->word_count * sizeof *model->words);
    model->words_count += event->word_count;
    return true;
}

static uint64_t state_key(const mr_pmodel_place *place, const mr_pmodel_event *event)
{
    uint64_t key = (event->state ^ place->held) * UINT64_C(0x9e3779b97f4a7c15);
    key = ((key ^ key >> 29) + event->thread + 1) * UINT64_C(0xbf58476d1ce4e5b9);
    return (key ^ key >> 32) + event->op.code;
}

/* The node where the thread stands is that of its local state. */
static bool merge(mr_pmodel *model, mr_pmodel_place *place, const mr_pmodel_event *event)
{
    uint64_t key = state_key(place, event);
    uint32_t *known = mr_map_at(&model->states, key, MR_PMODEL_NONE);
    if (!known)
        return false;
    bool moves = place->last_edge != MR_PMODEL_NONE;
    if (*known != MR_PMODEL_NONE && *known != place->node && moves) {
        model->edges[place->last_edge].to = *known;
        model->nodes[*known].is_head = true;
        place->node = *known;
        model->version++;
    } else if (*known == MR_PMODEL_NONE) {
        uint64_t here = model->nodes[place->node].state;
        if (here && here != key && moves) { /* something that is not recorded made a difference */
            uint32_t node = add_node(model, event->thread);
            if (node == MR_PMODEL_NONE)
                return false;
            model->edges[place->last_edge].to = place->node = node;
        }
        *known = place->node;
        model->nodes[place->node].state = key;
        return keep_words(model, &model->nodes[place->node], event);
    }
    return true;
}

static bool note_visit(mr_pmodel_place *place, const mr_pmodel_event *event)
{
    for (size_t i = 0; i < place->visit_count; i++)
        if (place->visits[i].node == place->node) {
            place->visit_count = i + 1; /* what came after it is not part of the history */
            return true;
        }
    if (!mr_grow((void **)&place->visits, &place->visit_capacity, place->visit_count + 1,
                 sizeof *place->visits))
        return false;
    place->visits[place->visit_count++] = (mr_pmodel_visit){event->state, place->held, place->node};
    return true;
}

/* The edge for what the operation gave; made when new. MR_PMODEL_NONE: no memory. */
static uint32_t follow(mr_pmodel *model, uint32_t node, uint32_t outcome, uint32_t written,
                       uint32_t records)
{
    uint32_t edge = mr_pmodel_edge_of(model, node, outcome);
    if (edge != MR_PMODEL_NONE)
        return edge;
    uint32_t to = add_node(model, model->nodes[node].thread);
    if (to == MR_PMODEL_NONE || !ROOM(model, edges, edge_count, edge_capacity))
        return MR_PMODEL_NONE;
    model->edges[model->edge_count] = (mr_pmodel_edge){.outcome = outcome,
                                                       .written = written,
                                                       .records = records,
                                                       .to = to,
                                                       .next = model->nodes[node].edges};
    model->nodes[node].edges = model->edge_count;
    model->nodes[to].parent = node;
    model->nodes[to].via = outcome;
    model->version++;
    return model->edge_count++;
}

static void note_recursive(mr_pmodel *model, const mr_pmodel_place *place,
                           const mr_pmodel_event *event)
{
    (void)place;
    if (event->op.kind == MR_PMODEL_LOCK && event->outcome)
        model->objects[event->op.object].is_recursive = true;
}

mr_pmodel_fit mr_pmodel_see(mr_pmodel *model, mr_pmodel_run *run, const mr_pmodel_event *event)
{
    mr_pmodel_place *place = place_of(model, run, event->thread);
    if (!place || (event->op.kind == MR_PMODEL_FORK && !place_of(model, run, event->op.object)))
        return MR_PMODEL_MEMORY;
    place = &run->places[event->thread];
    if (event->has_state && model->merges && !merge(model, place, event))
        return MR_PMODEL_MEMORY;
    if (event->has_state && !model->merges)
        fold(model, place, event);
    if (place->last_edge == MR_PMODEL_NONE)
        model->threads[event->thread].lead = event->lead;
    else
        model->edges[place->last_edge].lead = event->lead;
    mr_pmodel_node *node = &model->nodes[place->node];
    if (node->op.kind == MR_PMODEL_UNKNOWN) {
        node->op = event->op;
        model->version++;
    } else if (!same_op(&node->op, &event->op)) {
        return differ(run, node, &event->op, "another operation");
    }
    if (event->has_state && !model->merges && !note_visit(place, event))
        return MR_PMODEL_MEMORY;
    note_recursive(model, place, event);
    bool reads = mr_pmodel_reads(event->op.kind);
    uint32_t outcome = reads ? mr_pmodel_bytes(model, event->seen, event->op.bytes)
                             : (event->op.kind == MR_PMODEL_LOCK ? 0 : event->outcome);
    uint32_t written =
        event->written ? mr_pmodel_bytes(model, event->written, event->op.bytes) : MR_PMODEL_NONE;
    if ((reads && outcome == MR_PMODEL_NONE) || (event->written && written == MR_PMODEL_NONE))
        return MR_PMODEL_MEMORY;
    uint32_t known = model->edge_count;
    uint32_t edge = follow(model, place->node, outcome, written, event->records);
    if (edge == MR_PMODEL_NONE || !learn_memory(model, run, event))
        return MR_PMODEL_MEMORY;
    if (model->edges[edge].written != written)
        return differ(run, &model->nodes[place->node], &event->op, "it writes another value");
    run->events++;
    run->known += edge < known;
    if (has_effect(event))
        place->visit_count = 0;
    place->held = held_after(place->held, event);
    place->last_edge = edge;
    run->exited = run->exited || event->op.kind == MR_PMODEL_EXIT;
    place->node = model->edges[edge].to;
    return MR_PMODEL_FITS;
}

mr_pmodel_fit mr_pmodel_see_waiting(mr_pmodel *model, mr_pmodel_run *run, uint32_t thread,
                                    const mr_pmodel_op *op)
{
    mr_pmodel_place *place = place_of(model, run, thread);
    if (!place)
        return MR_PMODEL_MEMORY;
    mr_pmodel_node *node = &model->nodes[place->node];
    if (node->op.kind == MR_PMODEL_UNKNOWN) {
        node->op = *op;
        model->version++;
    }
    return same_op(&node->op, op) ? MR_PMODEL_FITS
                                  : differ(run, node, op, "it waits for something else");
}
