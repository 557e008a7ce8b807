#include "branches.h"

#include "base/assert.h"
#include "windows/read_choices.h"

/* clean(e) when it is not a block's boolean. */
#define ALWAYS UINT32_MAX
#define NEVER  (UINT32_MAX - 1)

static bool is_shared_access(const mr_window *w, uint32_t event)
{
    return mr_op_is_access(mr_window_op(w, event)) && w->variables[w->object[event]].shared;
}

/* Makes the reads up to the event, itself included, constrained ones, when it is in the cone. */
static bool constrain(mr_encoding *encoding, uint32_t event)
{
    const mr_window *w = encoding->window;
    if (event == MR_NONE || !mr_encoding_in_cone(encoding, event) ||
        w->position[event] < encoding->constrained[w->thread[event]])
        return false;
    encoding->constrained[w->thread[event]] = w->position[event] + 1;
    return true;
}

/* The writes that a constrained read may see must be clean, so they constrain as well. */
static bool constrain_sources(mr_encoding *encoding, uint32_t read)
{
    const mr_window *w = encoding->window;
    uint32_t first, end;
    if (w->variables[w->object[read]].by_source)
        return constrain(encoding, w->source[read]);
    bool changed = false;
    mr_read_same_value_writes(w, read, &first, &end);
    for (uint32_t k = first; k < end; k++)
        if (mr_read_may_see(w, encoding->hard, read, w->writes_by_value[k]))
            changed |= constrain(encoding, w->writes_by_value[k]);
    return changed;
}

/* The writes that the goal may end with. */
static void constrain_last(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    const mr_last_write *last = encoding->goal->last;
    if (!last || !last->value)
        return;
    const mr_window_variable *variable = &w->variables[last->variable];
    for (uint32_t k = variable->writes_first; k < variable->writes_end; k++)
        if (mr_last_write_fits(w, last, w->writes[k]))
            constrain(encoding, w->writes[k]);
}

static void find_constrained(mr_encoding *encoding, uint32_t *done)
{
    const mr_window *w = encoding->window;
    for (uint32_t t = 0; t < w->thread_count; t++)
        for (uint32_t k = encoding->cone[t]; k > 0 && !encoding->constrained[t]; k--)
            if (mr_binds_reads(w, mr_window_at(w, t, k - 1)))
                encoding->constrained[t] = k;
    constrain_last(encoding);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t t = 0; t < w->thread_count; t++) {
            for (; done[t] < encoding->constrained[t]; done[t]++) {
                uint32_t event = mr_window_at(w, t, done[t]);
                if (is_shared_access(w, event) && mr_op_reads(mr_window_op(w, event)))
                    changed |= constrain_sources(encoding, event);
            }
        }
    }
}

/* clean(e) for the events of a thread. */
static void make_blocks(mr_encoding *encoding, uint32_t thread)
{
    const mr_window *w = encoding->window;
    uint32_t bound = encoding->required[thread], clean = ALWAYS;
    while (bound && !mr_binds_reads(w, mr_window_at(w, thread, bound - 1)))
        bound--;
    MR_ASSERT(bound <= encoding->constrained[thread]);
    MR_ASSERT(encoding->constrained[thread] <= encoding->cone[thread]);
    bool cut = true;
    for (uint32_t k = 0; k < encoding->cone[thread]; k++) {
        uint32_t event = mr_window_at(w, thread, k);
        bool shared = is_shared_access(w, event);
        if (k >= bound && shared && mr_op_reads(mr_window_op(w, event))) {
            if (k >= encoding->constrained[thread])
                clean = NEVER;
            else if (cut)
                clean = encoding->formula.choice_count++;
            cut = false;
        }
        encoding->clean[event] = clean;
        cut |= mr_binds_reads(w, event) || (shared && mr_op_writes(mr_window_op(w, event)));
    }
}

bool mr_branches_prepare(mr_encoding *encoding, mr_arena *arena)
{
    const mr_window *w = encoding->window;
    encoding->constrained = mr_arena_zalloc(arena, w->thread_count, sizeof *encoding->constrained);
    if (!encoding->constrained)
        return false;
    if (w->model != MR_MODEL_BRANCH) {
        for (uint32_t t = 0; t < w->thread_count; t++)
            encoding->constrained[t] = encoding->cone[t];
        return true;
    }
    uint32_t *done = mr_arena_zalloc(arena, w->thread_count, sizeof *done);
    encoding->clean = mr_arena_alloc(arena, w->size, sizeof *encoding->clean);
    if (!done || !encoding->clean)
        return false;
    find_constrained(encoding, done);
    for (uint32_t t = 0; t < w->thread_count; t++)
        make_blocks(encoding, t);
    return true;
}

bool mr_is_constrained_read(const mr_encoding *encoding, uint32_t event)
{
    const mr_window *w = encoding->window;
    return mr_op_reads(mr_window_op(w, event)) &&
           w->position[event] < encoding->constrained[w->thread[event]];
}

bool mr_is_certainly_clean(const mr_encoding *encoding, uint32_t event)
{
    return encoding->window->model != MR_MODEL_BRANCH || encoding->clean[event] == ALWAYS;
}

void mr_clause_clean(mr_encoding *encoding, mr_clause *clause, uint32_t event)
{
    if (mr_is_certainly_clean(encoding, event))
        clause->holds = true;
    else if (encoding->clean[event] != NEVER)
        mr_clause_choice(clause, encoding->clean[event], true);
}

void mr_clause_unless_consistent(mr_encoding *encoding, mr_clause *clause, uint32_t read)
{
    if (encoding->window->model != MR_MODEL_BRANCH)
        mr_clause_unless_included(encoding, clause, read);
    else if (encoding->clean[read] != ALWAYS)
        mr_clause_choice(clause, encoding->clean[read], false);
}

void mr_encode_branches(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    if (w->model != MR_MODEL_BRANCH)
        return;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t block = ALWAYS,
                 asked = ALWAYS; /* the latest one; and that asked for by an event */
        for (uint32_t k = 0; k < encoding->constrained[t]; k++) {
            uint32_t event = mr_window_at(w, t, k), clean = encoding->clean[event];
            mr_clause clause = {0};
            MR_ASSERT(clean != NEVER);
            if (clean != block && block != ALWAYS) {
                mr_clause_choice(&clause, clean, false);
                mr_clause_choice(&clause, block, true);
                mr_clause_end(encoding, &clause);
            }
            block = clean;
            if (clean == asked || !mr_binds_reads(w, event))
                continue;
            clause = (mr_clause){0};
            mr_clause_unless_included(encoding, &clause, event);
            mr_clause_clean(encoding, &clause, event);
            mr_clause_end(encoding, &clause);
            asked = clean;
        }
    }
}
