#include "reason.h"

#include "dump/pair_problem.h"
#include "predict/settings.h"

#include <stdlib.h>
#include <string.h>

/* A trace of so many events is one window, which is small enough to be built several times. */
enum { WHOLE_EVENTS = 200000 };

/* ---- fork and join ---- */

static void add_link(mr_reason *reason, uint32_t event, uint32_t from)
{
    if (reason->link_count < MR_REASON_LINKS)
        reason->links[reason->link_count++] = (mr_reason_link){event, from};
    else
        reason->more_links = true;
}

/* The links were found from the second access to the first. */
static void turn_links(mr_reason *reason)
{
    for (uint32_t i = 0; i < reason->link_count / 2; i++) {
        mr_reason_link *one = &reason->links[i],
                       *other = &reason->links[reason->link_count - 1 - i];
        mr_reason_link kept = *one;
        *one = *other;
        *other = kept;
    }
}

/* Sets by[t] for each thread that fork and join bring behind `first` before `second`: by which event. */
static void follow(const mr_trace *trace, uint32_t first, uint32_t second, uint32_t *by)
{
    by[trace->thread[first]] = first;
    for (uint32_t event = first + 1; event < second; event++) {
        uint32_t thread = trace->thread[event], other = trace->operand[event];
        uint8_t op = trace->op[event];
        if (MR_OP_DOES(op, MR_FORKS) && by[thread] != MR_NONE && by[other] == MR_NONE)
            by[other] = event;
        /* A join comes after the events of the thread, if it has any. */
        if (MR_OP_DOES(op, MR_JOINS) && by[other] != MR_NONE && by[thread] == MR_NONE &&
            trace->thread_info[other].event_count)
            by[thread] = event;
    }
}

static bool find_fork_join(const mr_trace *trace, mr_reason *reason)
{
    uint32_t *by = mr_calloc(trace->threads.count + 1ull, sizeof *by);
    if (!by)
        return false;
    for (uint32_t t = 0; t < trace->threads.count; t++)
        by[t] = MR_NONE;
    follow(trace, reason->first, reason->second, by);
    uint32_t thread = trace->thread[reason->second];
    if (by[thread] != MR_NONE) {
        reason->kind = MR_REASON_FORK_JOIN;
        while (by[thread] != reason->first) {
            uint32_t event = by[thread];
            add_link(reason, event, event);
            thread = MR_OP_DOES(trace->op[event], MR_FORKS) ? trace->thread[event]
                                                            : trace->operand[event];
        }
        turn_links(reason);
    }
    free(by);
    return true;
}

/* ---- locks ---- */

/* Is the acquire the outermost one of a section that is open at the event? */
static bool is_open(const mr_trace *trace, uint32_t acquire, uint32_t event)
{
    return trace->thread[acquire] == trace->thread[event] &&
           MR_OP_DOES(trace->op[acquire], MR_ACQUIRES) && trace->link[acquire] != MR_NESTED &&
           (trace->link[acquire] == MR_NONE || trace->link[acquire] > event);
}

static bool find_lock(const mr_trace *trace, mr_reason *reason)
{
    uint32_t *held = mr_calloc(trace->locks.count + 1ull, sizeof *held);
    if (!held)
        return false;
    for (uint32_t event = 0; event < reason->first; event++)
        if (is_open(trace, event, reason->first))
            held[trace->operand[event]] = event + 1;
    for (uint32_t event = 0; event < reason->second; event++) {
        if (!is_open(trace, event, reason->second) || !held[trace->operand[event]])
            continue;
        uint32_t other = held[trace->operand[event]] - 1;
        if (MR_OP_DOES(trace->op[event], MR_SHARED) && MR_OP_DOES(trace->op[other], MR_SHARED))
            continue;
        reason->kind = MR_REASON_LOCK;
        reason->lock = trace->operand[event];
        reason->first_acquire = other;
        reason->second_acquire = event;
        break;
    }
    free(held);
    return true;
}

bool mr_reason_quick(const mr_trace *trace, uint32_t first, uint32_t second, mr_reason *reason)
{
    *reason = (mr_reason){.kind = MR_REASON_OPEN, .first = first, .second = second};
    return find_fork_join(trace, reason) &&
           (reason->kind != MR_REASON_OPEN || find_lock(trace, reason));
}

/* ---- what the second access cannot do without ---- */

/* The last release of the lock before the acquire that is not before `first`; MR_NONE. */
static uint32_t release_before(const mr_window *w, const mr_precedence *forced, uint32_t acquire,
                               uint32_t first)
{
    const mr_section *own = mr_window_section(w, acquire);
    for (uint32_t event = acquire; own && event-- > 0;) {
        const mr_section *section = mr_window_section(w, event);
        if (section && section->lock == own->lock && section->release == event &&
            mr_sections_exclude(section, own) && mr_precedes(forced, first, event))
            return event;
    }
    return MR_NONE;
}

/* Is the window event `first`, or does it need it? */
static bool needs(const mr_precedence *forced, uint32_t event, uint32_t first)
{
    return event != MR_NONE && (event == first || mr_precedes(forced, first, event));
}

/* The same as comes_after, by the order that calls and allocs impose. */
static uint32_t edge_into(const mr_window *w, const mr_precedence *forced, uint32_t event,
                          uint32_t first)
{
    size_t i = mr_window_barrier_edges_from(w, event);
    for (; i < w->barrier_edge_count && w->barrier_edges[i].to == event; i++)
        if (needs(forced, w->barrier_edges[i].from, first))
            return w->barrier_edges[i].from;
    return MR_NONE;
}

/* The event of another thread that `event` comes after because of itself, and that is `first` or needs
 * it; MR_NONE: none that can be named. */
static uint32_t comes_after(const mr_window *w, const mr_precedence *forced, uint32_t event,
                            uint32_t first)
{
    const mr_trace *trace = w->trace;
    uint8_t op = mr_window_op(w, event);
    uint32_t from = MR_NONE, link = trace->link[w->start + event];
    if (mr_op_reads(op))
        from = w->source[event];
    else if (MR_OP_DOES(op, MR_TAKES))
        from = link != MR_NONE && link >= w->start ? link - w->start : MR_NONE;
    else if (MR_OP_DOES(op, MR_ACQUIRES))
        from = release_before(w, forced, event, first);
    else if (MR_OP_DOES(op, MR_JOINS) && w->object[event] != MR_NONE)
        from = mr_window_at(w, w->object[event], mr_window_length(w, w->object[event]) - 1);
    return needs(forced, from, first) ? from : edge_into(w, forced, event, first);
}

/* The first event of `thread`, up to position `end`, that needs `first`; `end`: none. */
static uint32_t held_back_from(const mr_window *w, const mr_precedence *forced, uint32_t thread,
                               uint32_t end, uint32_t first)
{
    for (uint32_t position = 0; position < end; position++)
        if (mr_precedes(forced, first, mr_window_at(w, thread, position)))
            return position;
    return end;
}

/* The link that brings the thread of `at` behind `first`; `*from`: where to go on. False: none can be
 * named. */
static bool find_link(const mr_window *w, const mr_precedence *forced, const mr_reason *reason,
                      uint32_t at, uint32_t *from, mr_reason_link *link)
{
    uint32_t first = reason->first - w->start, thread = w->thread[at];
    uint32_t fork = w->threads[thread].fork;
    /* What the second access needs to see does not matter. */
    uint32_t end = w->position[at] + (w->start + at != reason->second);
    uint32_t position = held_back_from(w, forced, thread, end, first);
    uint32_t event = position < end ? mr_window_at(w, thread, position) : at;
    *from =
        position < end ? comes_after(w, forced, event, first) : edge_into(w, forced, event, first);
    if (*from == MR_NONE && (position == 0 || position == end) && needs(forced, fork, first))
        event = *from = fork;
    *link = (mr_reason_link){w->start + event, w->start + *from};
    return *from != MR_NONE;
}

/* Goes back from the second access to the first, link by link. */
static void find_links(const mr_window *w, const mr_precedence *forced, mr_reason *reason)
{
    uint32_t first = reason->first - w->start, at = reason->second - w->start;
    while (w->thread[at] != w->thread[first]) {
        mr_reason_link link;
        uint32_t from;
        if (reason->more_links || !find_link(w, forced, reason, at, &from, &link)) {
            reason->more_links = true;
            break;
        }
        add_link(reason, link.event, link.from);
        at = from;
    }
    turn_links(reason);
}

/* Does the second access need the first one? */
static bool is_needed(const mr_problem *problem, const mr_reason *reason)
{
    const mr_window *w = problem->window;
    return mr_precedence_enables(&problem->forced, reason->first - w->start,
                                 reason->second - w->start);
}

/* ---- what would make it a race ---- */

/* Would the two race without the constraints? `*cut`: that is not known. */
static mr_status try_without(const mr_trace *trace, const mr_config *config,
                             const mr_reason *reason, mr_reason_cause cause, bool *races, bool *cut,
                             mr_error *error)
{
    mr_relaxed_trace relaxed;
    mr_pair_problem pair;
    mr_decision decision = {.verdict = MR_VERDICT_NO_RACE};
    *races = false;
    if (!mr_relax(&relaxed, trace, cause.kind, cause.name, reason->first, reason->second)) {
        mr_relaxed_free(&relaxed);
        return mr_error_memory(error, "explaining a pair");
    }
    mr_status status = mr_pair_problem_init(&pair, &relaxed.trace, config, reason->first,
                                            reason->second, WHOLE_EVENTS, error);
    if (status == MR_OK)
        status =
            mr_pair_problem_ask(&pair, config, mr_predict_limits(config).steps, &decision, error);
    *races = decision.verdict == MR_VERDICT_RACE;
    *cut |= decision.verdict == MR_VERDICT_UNKNOWN;
    mr_pair_problem_free(&pair);
    mr_relaxed_free(&relaxed);
    return status;
}

static void add_cause(mr_reason *reason, mr_reason_cause cause)
{
    if (reason->cause_count < MR_REASON_CAUSES)
        reason->causes[reason->cause_count++] = cause;
    else
        reason->causes_cut = true;
}

/* The names that events of the kind have in the window, each once: those before the second access first,
 * from the last one on. At most MR_REASON_TRIES; their number. */
static uint32_t names_of(const mr_trace *trace, mr_relaxed kind, const mr_reason *reason,
                         uint32_t names[MR_REASON_TRIES], bool *cut)
{
    static const unsigned does[] = {[MR_RELAXED_READS] = MR_READS,
                                    [MR_RELAXED_LOCK] = MR_ACQUIRES,
                                    [MR_RELAXED_SEMAPHORES] = MR_TAKES};
    uint32_t count = 0;
    for (uint32_t k = 0; k < reason->end; k++) {
        uint32_t event = k < reason->second ? reason->second - 1 - k : k, i = 0;
        if (!MR_OP_DOES(trace->op[event], does[kind]))
            continue;
        while (i < count && names[i] != trace->operand[event])
            i++;
        if (i < count)
            continue;
        if (count == MR_REASON_TRIES) {
            *cut = true;
            break;
        }
        names[count++] = trace->operand[event];
    }
    return count;
}

/* Which single name of the kind keeps them apart; all of them together, when no single one does. */
static mr_status narrow(const mr_trace *trace, const mr_config *config, mr_relaxed kind,
                        mr_reason *reason, mr_error *error)
{
    uint32_t names[MR_REASON_TRIES], before = reason->cause_count;
    uint32_t count = names_of(trace, kind, reason, names, &reason->causes_cut);
    for (uint32_t i = 0; i < count; i++) {
        mr_reason_cause cause = {kind, names[i]};
        bool races;
        mr_status status =
            try_without(trace, config, reason, cause, &races, &reason->causes_cut, error);
        if (status != MR_OK)
            return status;
        if (races)
            add_cause(reason, cause);
    }
    if (reason->cause_count == before)
        add_cause(reason, (mr_reason_cause){kind, MR_NONE});
    return MR_OK;
}

static mr_status find_causes(const mr_trace *trace, const mr_config *config, mr_reason *reason,
                             mr_error *error)
{
    static const mr_relaxed kinds[] = {MR_RELAXED_READS, MR_RELAXED_LOCK, MR_RELAXED_SEMAPHORES,
                                       MR_RELAXED_CALLS};
    mr_status status = MR_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && status == MR_OK; i++) {
        mr_reason_cause all = {kinds[i], MR_NONE};
        bool races;
        status = try_without(trace, config, reason, all, &races, &reason->causes_cut, error);
        if (status != MR_OK || !races)
            continue;
        if (kinds[i] == MR_RELAXED_CALLS)
            add_cause(reason, all);
        else
            status = narrow(trace, config, kinds[i], reason, error);
    }
    return status;
}

/* ---- all of it ---- */

static mr_status decide(const mr_trace *trace, const mr_config *config, mr_reason *reason,
                        mr_error *error)
{
    mr_pair_problem pair;
    mr_decision decision = {0};
    mr_status status = mr_pair_problem_init(&pair, trace, config, reason->first, reason->second,
                                            WHOLE_EVENTS, error);
    reason->start = pair.start;
    reason->end = pair.end;
    if (status == MR_OK && is_needed(&pair.problem, reason)) {
        reason->kind = MR_REASON_NEEDS;
        find_links(pair.problem.window, &pair.problem.forced, reason);
    } else if (status == MR_OK) {
        status =
            mr_pair_problem_ask(&pair, config, mr_predict_limits(config).steps, &decision, error);
        reason->step = decision.step;
        reason->unanswered = decision.reason;
        reason->kind = decision.verdict == MR_VERDICT_RACE      ? MR_REASON_NONE
                       : decision.verdict == MR_VERDICT_NO_RACE ? MR_REASON_PROVEN
                                                                : MR_REASON_OPEN;
    }
    mr_pair_problem_free(&pair);
    return status;
}

mr_status mr_reason_find(const mr_trace *trace, const mr_config *config, mr_reason *reason,
                         mr_error *error)
{
    mr_status status = decide(trace, config, reason, error);
    if (status == MR_OK && (reason->kind == MR_REASON_NEEDS || reason->kind == MR_REASON_PROVEN))
        status = find_causes(trace, config, reason, error);
    return status;
}
