/*
 * folding: a fold under way (fold.h), as its parts see it: fold.c, and guess.c.
 */
#ifndef MR_HUNT_FOLDING_H
#define MR_HUNT_FOLDING_H

#include "hunt/model/model.h"

enum { MR_FOLD_WORDS_MOST = 256, MR_FOLD_LIVE_WORDS = MR_FOLD_WORDS_MOST / 64 };

/* Where the code of a thread is. Words are of 32 bits here. */
typedef struct mr_fold_place {
    uint64_t live[MR_FOLD_LIVE_WORDS]; /* a bit for each word that decides something */
    /* By word: how strongly it is suspected, this round, to tell nodes apart; 0: not. */
    uint32_t score[MR_FOLD_WORDS_MOST];
    uint32_t values[MR_FOLD_WORDS_MOST]; /* by word: how many it has */
    bool is_split;                       /* some word has a score */
} mr_fold_place;

typedef struct mr_folding {
    const mr_pmodel *model;
    uint32_t *of;       /* by node: its class; MR_PMODEL_NONE: nothing is known of it */
    uint32_t *place_of; /* by node */
    size_t *words_at;   /* by node: its words, in `words` */
    uint32_t *word_count;
    uint32_t *from; /* by edge: the node that has it */
    uint32_t *words;
    mr_fold_place *places;
    size_t words_used, words_capacity, place_count, place_capacity;
    mr_map values; /* place, word and value: seen */
    mr_map users;  /* 8 bytes of memory → thread + 1; UINT32_MAX: several */
    uint32_t class_count;
} mr_folding;

/* A hash that goes on. */
static inline uint64_t mr_fold_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Only one thread uses the memory of the access. */
bool mr_fold_is_private(const mr_folding *self, const mr_pmodel_op *op);

/* guess.c: adds edges to the folded model, whose nodes are those of `self->of`. False: no memory. */
bool mr_fold_guess(const mr_folding *self, mr_pmodel *folded);

#endif
