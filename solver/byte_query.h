/*
 * byte_query: Z3, asked for the bytes of an input. With session, units and watchdog the only code that
 * talks to Z3.
 *
 * A question is a conjunction of constraints on the bytes of an input, each a disjunction of atoms, each a
 * comparison of two *sums* as unsigned or signed numbers of 8, 16, 32 or 64 bits:
 *
 *   sum = constant + factor_1 * byte_1 + factor_2 * byte_2 + …     (modulo 2^bits)
 *
 * A number in the input is such a sum whatever its encoding: little endian has factors 256^k, decimal
 * digits have 10^k. Bytes that no constraint names stay as they are. Those that are named get what Z3
 * gives them, and keep their value where the first try, with all of them but those of the last
 * constraint fixed, has an answer.
 */
#ifndef MR_SOLVER_BYTE_QUERY_H
#define MR_SOLVER_BYTE_QUERY_H

#include "session.h"

#include <stddef.h>
#include <stdint.h>

typedef struct mr_byte_term {
    uint32_t at; /* of the byte */
    uint64_t factor;
} mr_byte_term;

typedef struct mr_byte_sum {
    uint64_t constant;
    uint32_t first, count; /* its terms */
} mr_byte_sum;

typedef enum mr_byte_relation {
    MR_BYTES_EQUAL,
    MR_BYTES_DIFFERENT,
    MR_BYTES_BELOW, /* left < right, unsigned */
    MR_BYTES_BELOW_SIGNED,
} mr_byte_relation;

typedef struct mr_byte_atom {
    mr_byte_sum left, right;
    mr_byte_relation relation;
    uint8_t bits; /* 8, 16, 32 or 64 */
} mr_byte_atom;

/* One of these atoms holds. */
typedef struct mr_byte_clause {
    uint32_t first, count;
} mr_byte_clause;

/* Zero-initialise; free with mr_byte_question_free. */
typedef struct mr_byte_question {
    mr_byte_term *terms;
    mr_byte_atom *atoms;
    mr_byte_clause *clauses; /* the last one is what is asked for */
    size_t term_count, term_capacity, atom_count, atom_capacity, clause_count, clause_capacity;
    bool failed; /* no memory while it was built */
} mr_byte_question;

void mr_byte_question_free(mr_byte_question *question);
/* Without constraints again, its memory kept. */
void mr_byte_question_clear(mr_byte_question *question);

/* A sum without terms; a term of the sum that was begun last. */
mr_byte_sum mr_byte_sum_begin(const mr_byte_question *question, uint64_t constant);
void mr_byte_sum_add(mr_byte_question *question, mr_byte_sum *sum, uint32_t at, uint64_t factor);

/* Begins a constraint; puts an atom into the one that was begun last. */
void mr_byte_clause_begin(mr_byte_question *question);
void mr_byte_clause_add(mr_byte_question *question, mr_byte_atom atom);

/* Does the input have what the atom, or the whole question, says? Bytes behind its end are 0. */
bool mr_byte_atom_holds(const mr_byte_question *question, const mr_byte_atom *atom,
                        const uint8_t *bytes, size_t size);
bool mr_byte_question_holds(const mr_byte_question *question, const uint8_t *bytes, size_t size);

/*
 * Looks for bytes that hold all constraints. `bytes` are those of an input; on SAT they are changed to
 * a solution (which mr_byte_question_holds confirms, or the answer is UNKNOWN). `units`: Z3's resource units for
 * the question, 0: no limit; so the same question has the same answer everywhere. UNKNOWN also without memory.
 */
mr_answer mr_byte_question_solve(const mr_byte_question *question, uint32_t units, uint8_t *bytes,
                                 size_t size);

#endif
