/*
 * What other nodes of a place have shown is taken to hold for a class that was not seen with the outcome: threads
 * mostly run the same code, and a loop does the same again. What the outcome changes in the words of a node is applied to
 * those of the class; where that is a local state of its thread that a run has shown, an edge leads there. It is that of a node
 * with the same words that decide (of another thread, then), or what all nodes that had the outcome agree on. Memory
 * that one thread alone uses is left out: its values are in the words.
 */
#include "base/memory.h"
#include "folding.h"

#include <stdlib.h>

enum {
    KIN_MOST = 32,  /* nodes at the place, with the outcome, that are compared */
    VOICES = 2,     /* … of which so many must agree */
    REGISTERS = 12, /* words before those of the stack (runtime/explore.h) */
};

typedef struct guessing {
    const mr_folding *fold;
    mr_pmodel *folded;
    uint32_t *one_of; /* by class: a node of the model */
    mr_map at_place;  /* place and outcome → an edge of the model + 1 … */
    uint32_t *kin;    /* by edge: the next one + 1 with the same place and outcome */
    mr_map outcomes;  /* place → the same edge + 1, one for each outcome … */
    uint32_t *other;  /* by edge: the next one + 1 with another outcome */
    mr_map targets;   /* thread, place and words that decide → class + 1 */
} guessing;

/* The word of `other` that is word `i` of `node`: those of the stack are counted from its end, where the first functions are. */
static bool counterpart(const mr_folding *fold, uint32_t node, uint32_t i, uint32_t other,
                        uint32_t *word)
{
    uint32_t count = fold->word_count[node], its = fold->word_count[other];
    uint64_t at = i < REGISTERS ? i : (uint64_t)i + its - count;
    if (i >= REGISTERS && (i + (uint64_t)its < count + (uint64_t)REGISTERS))
        return false;
    if (at >= its)
        return false;
    *word = fold->words[fold->words_at[other] + at];
    return true;
}

static uint64_t target_key(uint32_t thread, uint32_t place)
{
    return mr_fold_mix(mr_fold_mix(1, thread), place);
}

static bool decides(const mr_folding *fold, uint32_t place, uint32_t i)
{
    return fold->places[place].live[i / 64] >> i % 64 & 1;
}

static uint64_t key_of(const mr_folding *fold, uint32_t node)
{
    uint32_t place = fold->place_of[node];
    uint64_t key = target_key(fold->model->nodes[node].thread, place);
    for (uint32_t i = 0; i < fold->word_count[node]; i++)
        if (decides(fold, place, i))
            key = mr_fold_mix(mr_fold_mix(key, i), fold->words[fold->words_at[node] + i]);
    return key;
}

/* Where `node` would come to, if its words change as those of the kin did on the edge. A class + 1, or 0. */
static uint32_t target_of(const guessing *self, uint32_t node, uint32_t kin, uint32_t to)
{
    const mr_folding *fold = self->fold;
    uint32_t place = fold->place_of[to];
    uint64_t key = target_key(fold->model->nodes[node].thread, place);
    for (uint32_t i = 0; i < fold->word_count[to]; i++) {
        uint32_t word = fold->words[fold->words_at[to] + i], before, own;
        if (!decides(fold, place, i))
            continue;
        if (counterpart(fold, to, i, kin, &before) && before == word &&
            counterpart(fold, to, i, node, &own))
            word = own;
        key = mr_fold_mix(mr_fold_mix(key, i), word);
    }
    return mr_map_get(&self->targets, key, 0);
}

static uint32_t distance(const mr_folding *fold, uint32_t a, uint32_t b)
{
    uint32_t place = fold->place_of[a], count = 0;
    for (uint32_t i = 0; i < fold->word_count[a]; i++)
        count += decides(fold, place, i) &&
                 fold->words[fold->words_at[a] + i] != fold->words[fold->words_at[b] + i];
    return count;
}

static bool is_alike(const mr_folding *fold, uint32_t a, uint32_t b)
{
    const mr_pmodel_op *x = &fold->model->nodes[a].op, *y = &fold->model->nodes[b].op;
    return x->bytes == y->bytes && x->address == y->address;
}

static bool begin(guessing *self)
{
    const mr_folding *fold = self->fold;
    const mr_pmodel *model = fold->model;
    self->one_of = mr_calloc(self->folded->node_count + 1ull, sizeof *self->one_of);
    self->kin = mr_calloc(model->edge_count + 1ull, sizeof *self->kin);
    self->other = mr_calloc(model->edge_count + 1ull, sizeof *self->other);
    if (!self->one_of || !self->kin || !self->other)
        return false;
    for (uint32_t n = 0; n < model->node_count; n++) {
        if (model->nodes[n].op.kind == MR_PMODEL_UNKNOWN)
            continue;
        self->one_of[fold->of[n]] = n;
        if (!mr_map_at(&self->targets, key_of(fold, n), fold->of[n] + 1))
            return false;
        if (!mr_pmodel_reads(model->nodes[n].op.kind))
            continue;
        for (uint32_t e = model->nodes[n].edges; e != MR_PMODEL_NONE; e = model->edges[e].next) {
            uint32_t place = fold->place_of[n];
            if (model->nodes[model->edges[e].to].op.kind == MR_PMODEL_UNKNOWN)
                continue;
            uint32_t *first =
                mr_map_at(&self->at_place, mr_map_key(place, model->edges[e].outcome), 0);
            uint32_t *all = first ? mr_map_at(&self->outcomes, place, 0) : NULL;
            if (!all)
                return false;
            if (*first) {
                self->kin[e] = self->kin[*first - 1];
                self->kin[*first - 1] = e + 1;
            } else {
                *first = e + 1;
                self->other[e] = *all;
                *all = e + 1;
            }
        }
    }
    return true;
}

/* The edge by which the class of the node is guessed to go on, to `*to`: that of one with the same words that decide, or else what
 * all kin agree on, when there are two. MR_PMODEL_NONE: there is no guess. */
static uint32_t guess_of(const guessing *self, uint32_t node, uint32_t first, uint32_t *to)
{
    const mr_folding *fold = self->fold;
    const mr_pmodel_edge *edges = fold->model->edges;
    uint32_t best = MR_PMODEL_NONE, seen = 0, voices = 0;
    bool agree = true;
    for (uint32_t e = first + 1; e && seen < KIN_MOST; e = self->kin[e - 1], seen++) {
        uint32_t kin = fold->from[e - 1];
        if (!is_alike(fold, node, kin))
            continue;
        uint32_t target = target_of(self, node, kin, edges[e - 1].to);
        if (target && distance(fold, node, kin) == 0) {
            *to = target - 1;
            return e - 1;
        }
        agree = agree && target &&
                (!voices || (*to == target - 1 && edges[best].written == edges[e - 1].written));
        best = e - 1;
        *to = target - 1;
        voices++;
    }
    return agree && voices >= VOICES ? best : MR_PMODEL_NONE;
}

static bool add(mr_pmodel *folded, size_t *capacity, uint32_t from, const mr_pmodel_edge *edge,
                uint32_t to)
{
    if (!mr_grow((void **)&folded->edges, capacity, folded->edge_count + 1ull,
                 sizeof *folded->edges))
        return false;
    folded->edges[folded->edge_count] = *edge;
    folded->edges[folded->edge_count].to = to;
    folded->edges[folded->edge_count].next = folded->nodes[from].edges;
    folded->nodes[from].edges = folded->edge_count++;
    return true;
}

static bool guess(guessing *self)
{
    const mr_folding *fold = self->fold;
    mr_pmodel *folded = self->folded;
    size_t capacity = fold->model->edge_count + 1ull;
    uint32_t most = 4 * fold->model->edge_count, classes = fold->class_count;
    for (uint32_t c = 0; c < classes; c++) {
        uint32_t node = self->one_of[c];
        if (!mr_pmodel_reads(folded->nodes[c].op.kind) ||
            mr_fold_is_private(fold, &folded->nodes[c].op))
            continue;
        uint32_t first = mr_map_get(&self->outcomes, fold->place_of[node], 0);
        for (; first && folded->edge_count < most; first = self->other[first - 1]) {
            uint32_t to = 0,
                     known = mr_pmodel_edge_of(folded, c, fold->model->edges[first - 1].outcome);
            if (known != MR_PMODEL_NONE)
                continue;
            uint32_t e = guess_of(self, node, first - 1, &to);
            if (e != MR_PMODEL_NONE && !add(folded, &capacity, c, &fold->model->edges[e], to))
                return false;
        }
    }
    return true;
}

bool mr_fold_guess(const mr_folding *fold, mr_pmodel *folded)
{
    guessing self = {.fold = fold, .folded = folded};
    bool ok = begin(&self) && guess(&self);
    free(self.one_of);
    free(self.kin);
    free(self.other);
    mr_map_free(&self.at_place);
    mr_map_free(&self.outcomes);
    mr_map_free(&self.targets);
    return ok;
}
