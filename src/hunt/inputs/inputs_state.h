/* inputs_state: what a search for inputs knows (inputs.h), for the files that make new ones. */
#ifndef MR_HUNT_INPUTS_STATE_H
#define MR_HUNT_INPUTS_STATE_H

#include "inputs.h"

#include "base/bytes.h"
#include "base/keys.h"
#include "base/map.h"
#include "base/memory.h"

enum { MR_NO_INPUT = UINT32_MAX, MR_DEPENDENCES_MAX = 1 << 14 };

typedef struct mr_input_bytes {
    uint8_t *items; /* owned */
    size_t size;
} mr_input_bytes;

/* Both operands of a comparison of the input, as what they change by when one byte grows by one. */
typedef struct mr_dependence {
    uint32_t comparison, at;
    uint64_t change[2];
} mr_dependence;

typedef enum mr_corpus_stage {
    MR_STAGE_MATCHED, /* to be solved by what is found in the input */
    MR_STAGE_PROBING,
    MR_STAGE_PROBED,   /* to be solved by what the probes told */
    MR_STAGE_COMBINED, /* the same, to go where only other inputs have been so far */
    MR_STAGE_DONE,
} mr_corpus_stage;

/* An input of the corpus. */
typedef struct mr_corpus_input {
    uint32_t number;
    mr_input_bytes bytes;
    mr_input_why why;
    uint32_t parent;
    mr_compared *comparisons;
    uint32_t comparison_count;
    mr_corpus_stage stage;
    uint32_t next_probe, probes_out; /* the next byte; how many were given and not told */
    mr_dependence *dependences;      /* in the order of their arrival */
    size_t dependence_count, dependence_capacity;
    uint32_t mutations;
} mr_corpus_input;

/* An input that waits to be given, or is out. */
typedef struct mr_pending_input {
    mr_input_bytes bytes; /* NULL: its feedback has come */
    mr_input_why why;
    uint32_t parent; /* index in the corpus, MR_NO_INPUT: none */
    uint32_t probe;  /* the byte that was changed */
} mr_pending_input;

struct mr_inputs {
    mr_inputs_settings settings;
    uint64_t random;
    mr_pending_input *tries; /* by number; those from `given` on wait */
    size_t try_count, try_capacity;
    uint32_t given;
    mr_corpus_input *corpus;
    size_t corpus_count, corpus_capacity;
    mr_keys known;         /* hashes of all inputs that were made */
    mr_keys covered;       /* coverage keys, outcomes of comparisons among them */
    mr_map attempts;       /* by outcome: how often it was tried to get there */
    mr_input_bytes *words; /* what the program compared with */
    size_t word_count, word_capacity;
    mr_keys word_hashes;
};

/* How a comparison went: which of these hold, as unsigned numbers; texts: equal or not. */
typedef enum mr_sign { MR_SIGN_EQUAL, MR_SIGN_BELOW, MR_SIGN_ABOVE } mr_sign;

mr_sign mr_sign_of(const mr_compared *compared);
/* The key of an outcome of this comparison, among those of `covered`. */
uint64_t mr_sign_key(const mr_compared *compared, mr_sign outcome);

/* Puts an input among those that wait, unless it was made before. False: no memory. */
bool mr_inputs_offer(mr_inputs *inputs, const uint8_t *bytes, size_t size, mr_input_why why,
                     uint32_t parent, uint32_t probe);

/* Makes inputs that turn comparisons of the corpus input, from what is found in it (stage MATCHED) or
 * from its dependences (later ones). (inputs_solve.c) False: no memory, here and below. */
bool mr_inputs_solve(mr_inputs *inputs, uint32_t index);

/* Makes one mutation of it. (inputs_mutate.c) */
bool mr_inputs_mutate(mr_inputs *inputs, uint32_t index);

static inline uint64_t mr_inputs_random(mr_inputs *inputs)
{
    uint64_t z = (inputs->random += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* 0 … bound - 1; bound > 0. */
static inline uint32_t mr_inputs_below(mr_inputs *inputs, size_t bound)
{
    return (uint32_t)(mr_inputs_random(inputs) % bound);
}

#endif
