#include "smtlib.h"

#include <inttypes.h>

static void write_literal(FILE *stream, mr_literal literal)
{
    if (literal.v == MR_CHOICE)
        fprintf(stream, "c%" PRIu32, literal.u);
    else if (literal.v == MR_NOT_CHOICE)
        fprintf(stream, "(not c%" PRIu32 ")", literal.u);
    else
        fprintf(stream, "(< n%" PRIu32 " n%" PRIu32 ")", literal.u, literal.v);
}

static void write_clause(FILE *stream, const mr_literal *literals, size_t count)
{
    fputs(count > 1 ? "(assert (or" : "(assert", stream);
    for (size_t i = 0; i < count; i++) {
        fputc(' ', stream);
        write_literal(stream, literals[i]);
    }
    fputs(count > 1 ? "))\n" : ")\n", stream);
}

bool mr_formula_write_smtlib(FILE *stream, const mr_formula *formula,
                             void (*describe)(FILE *stream, void *context, uint32_t node),
                             void *context)
{
    fputs("(set-logic QF_IDL)\n", stream);
    for (uint32_t node = 0; node < formula->node_count; node++) {
        fprintf(stream, "(declare-fun n%" PRIu32 " () Int)", node);
        if (describe) {
            fputs(" ; ", stream);
            describe(stream, context, node);
        }
        fputc('\n', stream);
    }
    for (uint32_t choice = 0; choice < formula->choice_count; choice++)
        fprintf(stream, "(declare-fun c%" PRIu32 " () Bool)\n", choice);
    for (size_t i = 0; i < formula->edge_count; i++)
        write_clause(stream, &formula->edges[i], 1);
    size_t first = 0;
    for (size_t k = 0; k < formula->clause_count; k++) {
        write_clause(stream, formula->literals + first, formula->clause_ends[k] - first);
        first = formula->clause_ends[k];
    }
    if (formula->contradiction)
        fputs("(assert false)\n", stream);
    fputs("(check-sat)\n", stream);
    return !ferror(stream);
}
