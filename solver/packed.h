/*
 * packed: the states of a search, packed into words. A state is `width` numbers, each of which has as many bits as it
 * needs (mr_packed_add), none of them in two words.
 *
 * Turns change few of the numbers. So only what differs from the *current* state (mr_packed_go_to) is packed and
 * unpacked, and the hash is a sum of those of the words, of which only the changed ones are computed again.
 *
 * Some of the numbers are of variables. Those that no read will see are not kept: they are 0.
 */
#ifndef MR_SOLVER_PACKED_H
#define MR_SOLVER_PACKED_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* Where a number of a state stands. */
typedef struct mr_packed_place {
    uint32_t word;
    uint8_t shift;
    uint64_t mask;
} mr_packed_place;

typedef struct mr_packed {
    uint32_t width, words;
    uint32_t bits; /* of the places so far */
    mr_packed_place *places;
    uint32_t *first;                    /* the first number of each word, and the end */
    uint32_t variables, variable_count; /* the numbers of variables: the first, and how many */
    uint32_t *state;                    /* the current one, unpacked */
    uint64_t *key, *later;              /* it packed; a bit for each variable: is it kept? */
    uint64_t hash;
} mr_packed;

/* For at most `most` numbers. False: no memory of `arena`. */
bool mr_packed_init(mr_packed *packed, uint32_t most, mr_arena *arena);

/* Numbers of a state, for `most` of mr_packed_init; what follows the width stays 0. NULL: no memory of `arena`. */
uint32_t *mr_packed_new_state(uint32_t most, mr_arena *arena);

/* The next number of a state, which is at most `most`. */
void mr_packed_add(mr_packed *packed, uint32_t most);

/* After the last number. The current state is 0 then. False: no memory of `arena`. */
bool mr_packed_begin(mr_packed *packed, uint32_t variables, uint32_t variable_count,
                     mr_arena *arena);

/* The state of this key becomes the current one. */
void mr_packed_go_to(mr_packed *packed, const uint64_t *key, uint64_t hash);

/* Says which variables of the current state are kept; none is that is not in it. */
void mr_packed_keep(mr_packed *packed, const uint64_t *later);

/* Packs `state`, to which the current state leads, into `words` words. `later`: which variables it keeps, of those that
 * mr_packed_keep has. Returns its hash. */
uint64_t mr_packed_pack(const mr_packed *packed, const uint32_t *state, const uint64_t *later,
                        uint64_t *key);

#endif
