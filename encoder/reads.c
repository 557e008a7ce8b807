#include "reads.h"

#include "base/assert.h"
#include "branches.h"
#include "known.h"
#include "windows/read_choices.h"

/*
 * "write is not between source and read": the part of a clause that all kinds of reads share. A
 * source of MR_NONE is before everything. Ends the clause.
 */
static void keep_away(mr_encoding *encoding, mr_clause clause, uint32_t read, uint32_t source,
                      uint32_t write)
{
    if (source != MR_NONE)
        mr_clause_before(encoding, &clause, write, source);
    mr_clause_before(encoding, &clause, read, write);
    mr_clause_end(encoding, &clause);
}

/* Emits "the source is clean": a diverged thread wrote nothing that a consistent read sees. */
static void see_clean(mr_encoding *encoding, mr_clause clause, uint32_t read, uint32_t source)
{
    const mr_window *w = encoding->window;
    if (w->thread[source] == w->thread[read] || mr_is_certainly_clean(encoding, source))
        return;
    mr_clause_clean(encoding, &clause, source);
    mr_clause_end(encoding, &clause);
}

/* Emits what a read by source asks of its source. False: the source is not in C, so the read cannot
 * be consistent, and no other clause is needed. */
static bool ask_source(mr_encoding *encoding, uint32_t read, const mr_clause *guard)
{
    const mr_window *w = encoding->window;
    uint32_t source = w->source[read];
    if (source == MR_NONE)
        return true;
    if (!mr_encoding_in_cone(encoding, source)) { /* branch, or precedence is HARD */
        mr_clause_end(encoding, guard);
        return false;
    }
    see_clean(encoding, *guard, read, source);
    mr_clause clause = *guard;
    clause.holds = !encoding->options.plain && w->thread[source] == w->thread[read];
    if (!clause.holds) /* not folded by precedence: this clause is what justifies it */
        clause.literals[clause.count++] =
            mr_before(mr_encoding_node(encoding, source), mr_encoding_node(encoding, read));
    mr_clause_end(encoding, &clause);
    return true;
}

static void by_source(mr_encoding *encoding, uint32_t read)
{
    const mr_window *w = encoding->window;
    const mr_window_variable *variable = &w->variables[w->object[read]];
    mr_clause guard = {0};
    mr_clause_unless_consistent(encoding, &guard, read);
    bool asked = ask_source(encoding, read, &guard);
    if (asked && mr_encoding_has_region(encoding) && w->source[read] != MR_NONE)
        mr_encoding_node(encoding, w->source[read]); /* lazy.h looks where it is in an order */
    if (!asked || encoding->lazy)
        return;
    for (uint32_t k = variable->writes_first; k < variable->writes_end; k++)
        if (w->writes[k] != w->source[read] && w->writes[k] != read &&
            mr_encoding_in_cone(encoding, w->writes[k]))
            keep_away(encoding, guard, read, w->source[read], w->writes[k]);
}

void mr_encode_choice(mr_encoding *encoding, uint32_t choice, uint32_t read, uint32_t source)
{
    const mr_window *w = encoding->window;
    if (source == MR_NONE || (w->thread[source] == w->thread[read] && !encoding->options.plain))
        return;
    mr_clause guard = {0};
    mr_clause_choice(&guard, choice, false);
    mr_clause clause = guard;
    clause.literals[clause.count++] =
        mr_before(mr_encoding_node(encoding, source), mr_encoding_node(encoding, read));
    mr_clause_end(encoding, &clause);
    see_clean(encoding, guard, read, source);
}

/* "The choice keeps this write away." */
static void keep_from_choice(mr_encoding *encoding, uint32_t choice, uint32_t read, uint32_t source,
                             uint32_t write)
{
    const mr_window *w = encoding->window;
    mr_clause clause = {0};
    MR_ASSERT(write != read && write != source && w->object[write] == w->object[read]);
    mr_clause_choice(&clause, choice, false);
    if (mr_window_written_value(w, write) == mr_window_read_value(w, read)) {
        if (w->thread[write] == w->thread[read])
            return; /* as clean as the read */
        mr_clause_clean(encoding, &clause, write);
    }
    if (!clause.holds)
        keep_away(encoding, clause, read, source, write);
}

void mr_encode_interference(mr_encoding *encoding, uint32_t choice, uint32_t read, uint32_t source,
                            uint32_t write)
{
    if (choice != MR_NONE) {
        keep_from_choice(encoding, choice, read, source, write);
        return;
    }
    mr_clause guard = {0};
    mr_clause_unless_consistent(encoding, &guard, read);
    keep_away(encoding, guard, read, source, write);
}

/* Constraints of one choice for a value-treated read; MR_NONE is the carried value. */
static void choose(mr_encoding *encoding, uint32_t choice, uint32_t read, uint32_t source)
{
    const mr_window *w = encoding->window;
    const mr_window_variable *variable = &w->variables[w->object[read]];
    mr_encode_choice(encoding, choice, read, source);
    for (uint32_t k = variable->writes_first; k < variable->writes_end; k++) {
        if (mr_formula_stopped(&encoding->formula))
            return;
        uint32_t write = w->writes[k];
        if (write != read && write != source && mr_encoding_in_cone(encoding, write))
            keep_from_choice(encoding, choice, read, source, write);
    }
}

/* The same list with the write that the read saw, or the carried value, in front. */
static uint32_t copy_choices(const uint32_t *sources, size_t count, uint32_t saw, uint32_t *choices)
{
    for (size_t i = 0; i < count; i++)
        choices[i] = sources[i];
    for (size_t i = 0; i < count; i++) {
        if (sources[i] == saw) {
            choices[i] = choices[0];
            choices[0] = saw;
        }
    }
    return (uint32_t)count;
}

/* The possible sources of a read, the one that it saw first: a search that tries them in this order
 * starts near the trace. MR_NONE is the carried value. */
static uint32_t collect_choices(const mr_encoding *encoding, uint32_t read, uint32_t *choices)
{
    const mr_window *w = encoding->window;
    uint32_t first, end, count = 0, saw = w->source[read];
    const uint32_t *sources;
    size_t known =
        encoding->options.known ? mr_known_sources(encoding->options.known, read, &sources) : 0;
    if (known)
        return copy_choices(sources, known, saw, choices);
    bool carried = mr_read_may_see_carried(w, encoding->hard, read);
    if (saw != MR_NONE && mr_encoding_in_cone(encoding, saw))
        choices[count++] = saw;
    if (carried)
        choices[count++] = MR_NONE;
    mr_read_same_value_writes(w, read, &first, &end);
    for (uint32_t k = first; k < end; k++) {
        uint32_t write = w->writes_by_value[k];
        if (write != saw && mr_encoding_in_cone(encoding, write) &&
            mr_read_may_see(w, encoding->hard, read, write))
            choices[count++] = write;
    }
    return count;
}

static void by_value(mr_encoding *encoding, uint32_t read, uint32_t *choices, mr_literal *some)
{
    mr_clause guard = {0};
    mr_clause_unless_consistent(encoding, &guard, read);
    size_t guards = guard.count;
    for (size_t i = 0; i < guards; i++)
        some[i] = guard.literals[i];
    uint32_t count = collect_choices(encoding, read, choices);
    MR_ASSERT(guards + count <= (size_t)encoding->window->size + 2);
    uint32_t first_choice = encoding->formula.choice_count;
    encoding->formula.choice_count += count;
    for (uint32_t i = 0; i < count; i++)
        some[guards + i] = mr_choice(first_choice + i, true);
    mr_formula_clause(&encoding->formula, some, guards + count);
    for (uint32_t i = 0; i < count && !mr_formula_stopped(&encoding->formula); i++)
        choose(encoding, first_choice + i, read, choices[i]);
}

void mr_encode_reads(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t end = encoding->to[t];
        end = encoding->constrained[t] < end ? encoding->constrained[t] : end;
        for (uint32_t k = encoding->from[t]; k < end; k++) {
            uint32_t event = mr_window_at(w, t, k);
            if (!mr_op_reads(mr_window_op(w, event)) || !w->variables[w->object[event]].shared)
                continue;
            if (mr_formula_stopped(&encoding->formula))
                return;
            if (w->variables[w->object[event]].by_source)
                by_source(encoding, event);
            else if (!encoding->lazy)
                by_value(encoding, event, encoding->choices, encoding->literals);
        }
    }
}
