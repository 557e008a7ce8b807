/*
 * inputs: a search for inputs: which one to try next, and what was learned from a try.
 *
 *   mr_inputs_new → mr_inputs_add* → (mr_inputs_next → run the program → mr_inputs_feedback)* → mr_inputs_free
 *
 * An input is some bytes. The *corpus* has those that covered something new (keys of any kind, as of
 * inputs_coverage.h; of comparisons each (place, outcome) counts by itself). From each input of the
 * corpus new ones are made, in this order:
 *
 *   solved   A comparison of its run went one way, and no run has gone the other way. An operand that is
 *            found in the input (as a number of 1 to 8 bytes of either byte order, in decimal or
 *            hexadecimal digits, as text, or as the length of the input) is a sum over bytes
 *            (solver/byte_query.h). Z3 is asked for bytes that turn this comparison and leave those before it as they
 *            were, as in concolic execution. What changes the length of the input is made without Z3.
 *   probed   One byte is changed. Operands that change with it depend on it, by their difference: so
 *            sums are found that no look at the input finds (check sums, offsets, products with constants).
 *   solved   the same again, with these sums.
 *   solved   once more, when all inputs are as far: to the outcomes that only runs of other inputs had. What
 *            two of them lead to together may be new.
 *   mutated  Bits, bytes, numbers, pieces, parts of other inputs, and what the program compared with.
 *
 * What comes out is a guess until a run has taken it. The same seed, additions and answers give the same
 * inputs, and the same bytes are never given twice. No files, no processes; one thread at a time.
 */
#ifndef MR_HUNT_INPUTS_H
#define MR_HUNT_INPUTS_H

#include "base/error.h"
#include "operands.h"

typedef struct mr_inputs mr_inputs;

/* X(enumerator, text) */
#define MR_INPUT_WHY_MAP(X)                                                                        \
    X(GIVEN, "given")                                                                              \
    X(SOLVED, "solved")                                                                            \
    X(PROBED, "probed")                                                                            \
    X(MUTATED, "mutated")

typedef enum mr_input_why {
#define MR_INPUT_WHY_NUMBER(name, text) MR_INPUT_WHY_##name,
    MR_INPUT_WHY_MAP(MR_INPUT_WHY_NUMBER)
#undef MR_INPUT_WHY_NUMBER
        MR_INPUT_WHY_COUNT
} mr_input_why;

const char *mr_input_why_name(mr_input_why why);

enum { MR_INPUTS_COMPARISONS = 4096 }; /* of a run that are looked at */

typedef struct mr_inputs_settings {
    uint64_t seed;
    size_t most_bytes;    /* of an input; 0: 4096 */
    bool solves, mutates; /* which ways are used; what is given is always tried */
} mr_inputs_settings;

/* An input to try. */
typedef struct mr_input_try {
    uint32_t number; /* 0, 1, …, in the order in which they are given */
    const uint8_t
        *bytes; /* on loan until its feedback, or the next mr_inputs_next when it is in none */
    size_t size;
    mr_input_why why;
    uint32_t parent; /* number of the input that it was made from; UINT32_MAX: none */
} mr_input_try;

/* What a run of it showed, on loan. */
typedef struct mr_input_seen {
    const uint64_t *keys; /* what it covered */
    size_t key_count;
    const mr_compared *comparisons;
    size_t comparison_count;
} mr_input_seen;

/* NULL: no memory. */
mr_inputs *mr_inputs_new(const mr_inputs_settings *settings);
void mr_inputs_free(mr_inputs *inputs); /* NULL is fine */

/* Adds an input that is to be tried. One that is too long is cut; one that is there already is dropped. False: no memory. */
bool mr_inputs_add(mr_inputs *inputs, const uint8_t *bytes, size_t size);

/*
 * The next input to try. Several may be out at a time. False: there is none now (no input was added, or the first
 * ones are all out, or only mutations are left and `mutates` is false), or no memory.
 */
bool mr_inputs_next(mr_inputs *inputs, mr_input_try *next);

/* Tells what came of a try, once for each that was run. `*is_new`: it is in the corpus now. False: no memory. */
bool mr_inputs_feedback(mr_inputs *inputs, uint32_t number, const mr_input_seen *seen,
                        bool *is_new);

/* The corpus, in the order in which it grew. */
uint32_t mr_inputs_corpus_count(const mr_inputs *inputs);
mr_input_try mr_inputs_corpus_at(const mr_inputs *inputs, uint32_t index);

#endif
