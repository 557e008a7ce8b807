#include "fold.h"

#include "base/memory.h"
#include "folding.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is known of the nodes ---- */

/* A node without a state of its own is what the one before it was, and what that one's operation gave. Words are halved: compiled
 * code keeps two variables of 32 bits in one, of which one may decide. */
static bool take_words(mr_folding *self, uint32_t number)
{
    const mr_pmodel_node *node = &self->model->nodes[number];
    bool is_next = !node->word_count && node->parent < number;
    uint32_t count = is_next ? self->word_count[node->parent] : 2 * node->word_count;
    if (!mr_grow((void **)&self->words, &self->words_capacity, self->words_used + count + 1,
                 sizeof *self->words))
        return false;
    uint32_t *to = self->words + self->words_used;
    if (is_next && count)
        memcpy(to, self->words + self->words_at[node->parent], count * sizeof *to);
    for (uint32_t i = 0; !is_next && i < count; i++)
        to[i] = (uint32_t)(self->model->words[node->words + i / 2] >> 32 * (i % 2));
    if (is_next && count < MR_FOLD_WORDS_MOST)
        to[count++] = node->via;
    self->words_at[number] = self->words_used;
    self->word_count[number] = count;
    self->words_used += count;
    return true;
}

static bool take_place(mr_folding *self, mr_map *numbers, uint32_t number)
{
    const mr_pmodel_op *op = &self->model->nodes[number].op;
    uint64_t key =
        mr_fold_mix(mr_fold_mix(mr_fold_mix(1, op->kind), op->code), self->word_count[number]);
    uint32_t *place_number = mr_map_at(numbers, key, (uint32_t)self->place_count);
    if (!place_number || !mr_grow((void **)&self->places, &self->place_capacity,
                                  self->place_count + 1, sizeof *self->places))
        return false;
    if (*place_number == self->place_count)
        self->places[self->place_count++] = (mr_fold_place){.is_split = false};
    self->place_of[number] = *place_number;
    return true;
}

static bool take_users(mr_folding *self, uint32_t number)
{
    const mr_pmodel_node *node = &self->model->nodes[number];
    if (!mr_pmodel_is_access(node->op.kind) || node->op.kind == MR_PMODEL_FREE)
        return true;
    for (uint64_t at = node->op.address >> 3; at <= (node->op.address + node->op.bytes - 1) >> 3;
         at++) {
        uint32_t *user = mr_map_at(&self->users, at, node->thread + 1);
        if (!user)
            return false;
        *user = *user == node->thread + 1 ? *user : UINT32_MAX;
    }
    return true;
}

bool mr_fold_is_private(const mr_folding *self, const mr_pmodel_op *op)
{
    for (uint64_t at = op->address >> 3; at <= (op->address + op->bytes - 1) >> 3; at++)
        if (mr_map_get(&self->users, at, UINT32_MAX) == UINT32_MAX)
            return false;
    return true;
}

/* How many values each word has at its place. */
static bool count_values(mr_folding *self, uint32_t number)
{
    mr_fold_place *its = &self->places[self->place_of[number]];
    const uint32_t *words = self->words + self->words_at[number];
    for (uint32_t i = 0; i < self->word_count[number]; i++) {
        uint64_t key = mr_fold_mix(mr_fold_mix(1, self->place_of[number]), i);
        uint32_t *known = mr_map_at(&self->values, mr_fold_mix(key, words[i]), 0);
        if (!known)
            return false;
        its->values[i] += !*known;
        *known = 1;
    }
    return true;
}

static bool begin(mr_folding *self)
{
    mr_map numbers = {.count = 0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < self->model->node_count; i++)
        ok = take_words(self, i) && take_place(self, &numbers, i) && take_users(self, i);
    for (uint32_t i = 0; ok && i < self->model->node_count; i++)
        ok = count_values(self, i);
    mr_map_free(&numbers);
    return ok;
}

/* ---- classes ---- */

/* The thread, the place, the operation, and the words that decide. */
static uint64_t class_key(const mr_folding *self, uint32_t number)
{
    const mr_pmodel_node *node = &self->model->nodes[number];
    const mr_pmodel_op *op = &node->op;
    const mr_fold_place *its = &self->places[self->place_of[number]];
    const uint32_t *words = self->words + self->words_at[number];
    uint64_t hash = mr_fold_mix(
        mr_fold_mix(mr_fold_mix(mr_fold_mix(1, op->kind), op->code), self->word_count[number]),
        node->thread);
    hash = mr_fold_mix(mr_fold_mix(mr_fold_mix(hash, op->address), op->bytes),
                       (uint64_t)op->object << 32 | op->other);
    for (uint32_t i = 0; i < self->word_count[number]; i++)
        if (its->live[i / 64] >> i % 64 & 1)
            hash = mr_fold_mix(mr_fold_mix(hash, i), words[i]);
    return hash;
}

static bool classify(mr_folding *self)
{
    mr_map classes = {.count = 0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < self->model->node_count; i++) {
        self->of[i] = MR_PMODEL_NONE;
        if (self->model->nodes[i].op.kind == MR_PMODEL_UNKNOWN)
            continue;
        const uint32_t *number = mr_map_at(&classes, class_key(self, i), (uint32_t)classes.count);
        ok = number != NULL;
        self->of[i] = ok ? *number : 0;
    }
    self->class_count = (uint32_t)classes.count;
    mr_map_free(&classes);
    return ok;
}

/* Two nodes of a class do not go on in the same way: one of the words in which they differ decides. */
static void accuse(mr_folding *self, uint32_t a, uint32_t b)
{
    enum { WHOLE = 1 << 20 };
    mr_fold_place *its = &self->places[self->place_of[a]];
    const uint32_t *x = self->words + self->words_at[a], *y = self->words + self->words_at[b];
    uint32_t words = self->word_count[a], count = 0;
    for (uint32_t i = 0; i < words; i++)
        count += x[i] != y[i];
    for (uint32_t i = 0; i < words; i++)
        if (x[i] != y[i])
            its->score[i] += WHOLE / count / count; /* count * count may be 0 when it overflows */
    its->is_split = its->is_split || count > 0;
}

/* The first node of the class that had the outcome. */
static bool compare(mr_folding *self, mr_map *firsts, uint32_t node)
{
    const mr_pmodel_edge *edges = self->model->edges;
    const mr_pmodel_op *op = &self->model->nodes[node].op;
    bool is_own = mr_pmodel_reads(op->kind) && mr_fold_is_private(self, op);
    for (uint32_t e = self->model->nodes[node].edges; e != MR_PMODEL_NONE; e = edges[e].next) {
        uint32_t *first =
            mr_map_at(firsts, mr_map_key(self->of[node], is_own ? 0 : edges[e].outcome), e);
        if (!first)
            return false;
        const mr_pmodel_edge *other = &edges[*first];
        uint32_t to = self->of[edges[e].to], its = self->of[other->to];
        if ((is_own && edges[e].outcome != other->outcome) || edges[e].written != other->written ||
            (to != its && to != MR_PMODEL_NONE && its != MR_PMODEL_NONE))
            accuse(self, node, self->from[*first]);
        else if (its == MR_PMODEL_NONE)
            *first = e;
    }
    return true;
}

/* Of two words that explain as much, the one with fewer values is rather a variable, and the other one what something has left there.
 * The score is divided by some logarithm of their number. */
static uint32_t weight(const mr_fold_place *its, uint32_t word)
{
    uint64_t values = its->values[word] < UINT16_MAX ? its->values[word] + 1u : UINT16_MAX;
    uint32_t bits = 1;
    for (values *= values * values; values > 1; values >>= 1)
        bits++;
    return its->score[word] / bits;
}

/* Gives each place that has to be split the word that is accused most. */
static bool judge(mr_folding *self)
{
    bool changed = false;
    for (size_t p = 0; p < self->place_count; p++) {
        mr_fold_place *its = &self->places[p];
        uint32_t best = 0;
        for (uint32_t i = 1; i < MR_FOLD_WORDS_MOST && its->is_split; i++)
            best = weight(its, i) > weight(its, best) ? i : best;
        if (its->is_split)
            its->live[best / 64] |= (uint64_t)1 << best % 64;
        changed = changed || its->is_split;
        its->is_split = false;
        memset(its->score, 0, sizeof its->score);
    }
    return changed;
}

static bool refine(mr_folding *self, bool *changed)
{
    mr_map firsts = {.count = 0};
    bool ok = classify(self);
    for (uint32_t i = 0; ok && i < self->model->node_count; i++)
        ok = self->of[i] == MR_PMODEL_NONE || compare(self, &firsts, i);
    mr_map_free(&firsts);
    *changed = ok && judge(self);
    return ok;
}

/* One edge for each outcome: one that leads further tells more. */
static void add_edge(mr_pmodel *folded, uint32_t from, const mr_pmodel_edge *edge, uint32_t to)
{
    uint32_t known = mr_pmodel_edge_of(folded, from, edge->outcome);
    if (known != MR_PMODEL_NONE) {
        if (folded->nodes[folded->edges[known].to].op.kind == MR_PMODEL_UNKNOWN) {
            folded->edges[known].to = to;
            folded->edges[known].lead = edge->lead;
        }
        return;
    }
    folded->edges[folded->edge_count] = *edge;
    folded->edges[folded->edge_count].to = to;
    folded->edges[folded->edge_count].next = folded->nodes[from].edges;
    folded->nodes[from].edges = folded->edge_count++;
}

static bool build(mr_folding *self, mr_pmodel *folded)
{
    const mr_pmodel *model = self->model;
    uint32_t count = self->class_count;
    *folded = *model;
    folded->nodes = mr_calloc(model->node_count + count + 1ull, sizeof *folded->nodes);
    folded->edges = mr_calloc(model->edge_count + 1ull, sizeof *folded->edges);
    folded->threads = mr_calloc(model->thread_count + 1ull, sizeof *folded->threads);
    if (!folded->nodes || !folded->edges || !folded->threads)
        return false;
    folded->edge_count = 0;
    for (uint32_t i = 0; i < model->node_count; i++) {
        uint32_t *number = &self->of[i];
        *number = *number == MR_PMODEL_NONE ? count++ : *number;
        folded->nodes[*number] = model->nodes[i];
        folded->nodes[*number].state = class_key(self, i);
        folded->nodes[*number].edges = MR_PMODEL_NONE;
    }
    folded->node_count = count;
    for (uint32_t i = 0; i < model->node_count; i++)
        for (uint32_t e = model->nodes[i].edges; e != MR_PMODEL_NONE; e = model->edges[e].next)
            add_edge(folded, self->of[i], &model->edges[e], self->of[model->edges[e].to]);
    memcpy(folded->threads, model->threads, model->thread_count * sizeof *folded->threads);
    for (uint32_t t = 0; t < model->thread_count; t++)
        folded->threads[t].root = self->of[model->threads[t].root];
    return true;
}

static bool make_room(mr_folding *self)
{
    size_t nodes = self->model->node_count + 1ull;
    self->of = mr_calloc(nodes, sizeof *self->of);
    self->place_of = mr_calloc(nodes, sizeof *self->place_of);
    self->words_at = mr_calloc(nodes, sizeof *self->words_at);
    self->word_count = mr_calloc(nodes, sizeof *self->word_count);
    self->from = mr_calloc(self->model->edge_count + 1ull, sizeof *self->from);
    if (!self->of || !self->place_of || !self->words_at || !self->word_count || !self->from)
        return false;
    for (uint32_t i = 0; i < self->model->node_count; i++)
        for (uint32_t e = self->model->nodes[i].edges; e != MR_PMODEL_NONE;
             e = self->model->edges[e].next)
            self->from[e] = i;
    return true;
}

static void tell_all_apart(mr_folding *self)
{
    for (size_t p = 0; p < self->place_count; p++)
        memset(self->places[p].live, 0xFF, sizeof self->places[p].live);
}

static bool fold(mr_folding *self, mr_pmodel *folded, mr_fold_degree degree)
{
    bool changed = true;
    if (!make_room(self) || !begin(self))
        return false;
    if (degree == MR_FOLD_EQUAL)
        tell_all_apart(self);
    while (changed)
        if (!refine(self, &changed))
            return false;
    return build(self, folded);
}

mr_status mr_fold_make(mr_pmodel *folded, const mr_pmodel *model, mr_fold_degree degree,
                       mr_error *error)
{
    mr_folding self = {.model = model};
    *folded = (mr_pmodel){.nodes = NULL};
    bool ok =
        fold(&self, folded, degree) && (degree != MR_FOLD_GUESS || mr_fold_guess(&self, folded));
    free(self.of);
    free(self.place_of);
    free(self.words_at);
    free(self.word_count);
    free(self.from);
    free(self.words);
    free(self.places);
    mr_map_free(&self.users);
    mr_map_free(&self.values);
    if (ok)
        return MR_OK;
    mr_fold_free(folded);
    return mr_error_memory(error, "folding a model");
}

void mr_fold_free(mr_pmodel *folded)
{
    free(folded->nodes);
    free(folded->edges);
    free(folded->threads);
    *folded = (mr_pmodel){.nodes = NULL};
}
