#include "base/assert.h"
#include "finder.h"

#include <inttypes.h>
#include <string.h>

/* Windows around the events of a question: the least one, or window.size where that is less, and how
 * many times larger the next is. */
enum { LEAST_WINDOW = 512, GROWTH = 8 };

/* In windows up to this size questions are asked before the whole trace is looked at closely. */
enum { SMALL_WINDOW = LEAST_WINDOW * GROWTH };

/* Writes and objects that posing a question looks at by effort. */
enum { POSED_BY_EFFORT = 64 };

/* Effort of an event of a cone, and of an unknown answer as a part of solver.saturate_steps, as that of
 * far races (far/ask.h). */
enum { EFFORT_OF_CONE_EVENT = 8, STEPS_OF_EFFORT = 4 };

/* Steps that settle only what is impossible at a glance; that need no formula; that need no Z3. */
#define GLANCE (MR_STEP_BIT(MR_STEP_FILTER) | MR_STEP_BIT(MR_STEP_CONE))
#define SOLID                                                                                      \
    (GLANCE | MR_STEP_BIT(MR_STEP_LINEARISE) | MR_STEP_BIT(MR_STEP_ELIMINATE) |                    \
     MR_STEP_BIT(MR_STEP_GREEDY))
#define LIGHT (SOLID | MR_STEP_BIT(MR_STEP_SATURATE))

/* A look at the whole trace: elimination over the rows near the accesses alone, with one of so many parts of its budget.
 * Most proofs need a thousandth of what comes before the accesses, which a search goes through. */
#define LOOK (GLANCE | MR_STEP_BIT(MR_STEP_ELIMINATE))
enum { PART_OF_LOOK = 128 };

/* A short search in the whole trace, with so many steps for each event. Where it answers, it does so in a tenth of the time of
 * elimination, which looks at all that the threads might still do. */
#define SEARCH (GLANCE | MR_STEP_BIT(MR_STEP_SATURATE))
enum { SEARCH_STEPS = 32, LONG_SEARCH_STEPS = 1024 };

/* When so many windows around questions of a group have shown nothing, later ones are looked at by short searches alone. When so
 * many looks at the whole trace have proven nothing, searches come first there. */
enum { WINDOWS_IN_VAIN = 64, LOOKS_IN_VAIN = 8 };

/* A question under way. */
typedef struct inquiry {
    mr_finder *finder;
    mr_finder_worker *own;
    const mr_question *question;
    mr_finding_verdict *verdict;
    uint32_t first, last; /* its span in the asked trace */
    mr_verdict answer;
    mr_unknown_reason reason; /* of an unknown */
    char detail[64];
    uint32_t start, end; /* the window of the last answer */
    bool long_search;    /* SEARCH may take more steps */
    bool halted;
} inquiry;

/* May the group go on, and does the run? */
static bool goes_on(inquiry *q)
{
    const mr_far_limits *limits = &q->finder->context->settings->far_limits;
    q->halted |= mr_halt_asked(q->finder->context->settings->halt) != MR_HALT_NONE;
    bool covered = !limits->per_race || q->verdict->effort <= limits->per_race;
    if (!covered)
        q->reason = MR_UNKNOWN_BUDGET;
    return covered && !q->halted;
}

/* ---- one window ---- */

static mr_status confirm(inquiry *q, const mr_window *window, mr_decision *decision)
{
    mr_worker *worker = &q->own->worker;
    mr_witness witness;
    bool accepted;
    if (!mr_pose_witness(&q->finder->asked, q->question, window, decision, &witness))
        return mr_error_memory(worker->error, "building a witness");
    mr_status status = mr_worker_check_witness(worker, &witness, &accepted);
    if (accepted) {
        q->verdict->finding = (mr_finding){.witness = witness, .confirmed_by = decision->step};
    } else if (status == MR_OK) {
        q->verdict->rejected_witnesses++;
        decision->verdict = MR_VERDICT_UNKNOWN;
        decision->reason = MR_UNKNOWN_REJECTED;
    }
    return status;
}

/* A look or a search that gives no answer comes before the steps that would be asked without it, so only its own steps
 * count. */
static void count_decision(inquiry *q, const mr_decision *decision, unsigned steps)
{
    mr_worker *worker = &q->own->worker;
    for (int step = 0; step < MR_STEP_COUNT; step++)
        worker->run.step_seconds[step] += decision->seconds[step];
    worker->run.queries_stopped_by_time += decision->stopped_by_time;
    worker->run.queries_stopped_by_memory += decision->stopped_by_memory;
    if (steps == LOOK && decision->verdict == MR_VERDICT_UNKNOWN)
        q->verdict->effort += decision->effort;
    else if (steps == SEARCH && decision->verdict == MR_VERDICT_UNKNOWN)
        q->verdict->effort += decision->effort / STEPS_OF_EFFORT;
    else
        q->verdict->effort += EFFORT_OF_CONE_EVENT * decision->cone_events;
}

/* Posing a question goes through the writes of its variable, and its objects. */
static uint64_t posing_effort(const inquiry *q, const mr_window *window, const mr_goal *goal)
{
    uint64_t looked_at = q->question->object_count;
    if (q->question->variable != MR_NONE && goal->stop_count) {
        const mr_window_variable *variable =
            &window->variables[window->object[goal->stops[0].events[0]]];
        looked_at += variable->writes_end - variable->writes_first;
    }
    return looked_at / POSED_BY_EFFORT;
}

static mr_status ask(inquiry *q, const mr_problem *problem, unsigned steps)
{
    mr_worker *worker = &q->own->worker;
    const mr_window *window = problem->window;
    mr_decide_options options = worker->decide;
    mr_decision decision = {.verdict = MR_VERDICT_NO_RACE};
    mr_status status = MR_OK;
    mr_goal goal;
    options.steps &= steps;
    options.only_near_part = steps == LOOK ? PART_OF_LOOK : 0;
    uint64_t most_steps = (uint64_t)window->size *
                          (q->long_search ? (uint64_t)LONG_SEARCH_STEPS : (uint64_t)SEARCH_STEPS);
    if (steps == SEARCH && options.saturate_steps > most_steps)
        options.saturate_steps = most_steps;
    mr_arena_mark mark = mr_arena_get_mark(&worker->arena);
    switch (mr_pose(&q->finder->asked, q->question, window, &goal, &worker->arena)) {
    case MR_POSED:
        q->verdict->effort += posing_effort(q, window, &goal);
        status = mr_decide_goal(problem, worker->session, &options, &goal, &worker->arena,
                                &decision, worker->error);
        break;
    case MR_POSED_IMPOSSIBLE:
        break;
    case MR_POSED_NO_MEMORY:
        if (!worker->arena.refused)
            return mr_error_memory(worker->error, "looking for findings");
        worker->arena.refused = false;
        decision = (mr_decision){.verdict = MR_VERDICT_UNKNOWN, .reason = MR_UNKNOWN_MEMORY};
        break;
    }
    count_decision(q, &decision, steps);
    if (status == MR_OK && decision.verdict == MR_VERDICT_RACE)
        status = confirm(q, window, &decision);
    q->answer = decision.verdict;
    if (decision.verdict == MR_VERDICT_UNKNOWN) {
        q->reason = decision.reason;
        memcpy(q->detail, decision.detail, sizeof q->detail);
        if (steps == MR_ALL_STEPS)
            q->verdict->effort += options.saturate_steps / STEPS_OF_EFFORT;
    }
    q->start = window->start;
    q->end = window->end;
    mr_arena_release(&worker->arena, mark);
    return status;
}

/* Builds a window of the asked trace, unless the worker has it. */
static mr_status build(inquiry *q, uint32_t start, uint32_t end)
{
    mr_finder_worker *own = q->own;
    mr_worker *worker = &own->worker;
    mr_window *window;
    if (own->start == start && own->end == end)
        return MR_OK;
    own->start = own->end = 0;
    mr_arena_reset(&worker->arena);
    mr_worker_asks(worker, false);
    mr_carried_move(&worker->carried, start);
    mr_status status = mr_window_build(&worker->carried, end, worker->settings->model,
                                       &worker->arena, &window, worker->error);
    if (status == MR_OK && !mr_problem_init(&own->problem, window, &worker->arena))
        status = mr_error_memory(worker->error, "building a window");
    mr_worker_asks(worker, true);
    q->verdict->effort += end - start;
    if (status != MR_OK)
        return status;
    own->start = start;
    own->end = end;
    return MR_OK;
}

static mr_status ask_in(inquiry *q, uint32_t start, uint32_t end, unsigned steps)
{
    mr_status status = build(q, start, end);
    return status == MR_OK ? ask(q, &q->own->problem, steps) : status;
}

/* ---- windows that need not be built ---- */

/* Has the list an event in the window? */
static bool meets(const inquiry *q, const mr_question_list *list, uint32_t start, uint32_t end)
{
    const uint32_t *events = q->finder->asked.listed + list->first;
    uint32_t low = 0, high = list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (events[middle] < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->count && events[low] < end;
}

/* Can the window have an event of each list, what is required in it or before it, the last write,
 * and the lives? Else the question is impossible there, and the window need not be built. */
static bool may_be_in(const inquiry *q, uint32_t start, uint32_t end)
{
    uint32_t required = mr_asked_event(&q->finder->asked, q->question->required);
    if (required != MR_NONE && required >= end)
        return false;
    for (uint32_t i = 0; i < q->question->list_count; i++)
        if (!meets(q, &q->finder->questions.lists[q->question->first_list + i], start, end))
            return false;
    return mr_asked_writes_may_be_in(&q->finder->writes, q->question, &q->own->fitting, start,
                                     end) &&
           mr_pose_lives_fit(&q->finder->asked, q->question, start, end);
}

/* ---- the windows of the plan ---- */

static mr_status decide_by_plan(inquiry *q)
{
    const mr_window_plan *plan = &q->finder->context->settings->plan;
    mr_status status = MR_OK;
    bool unknown = false;
    uint32_t start, end;
    q->answer = MR_VERDICT_NO_RACE;
    for (uint32_t k = 0; status == MR_OK && mr_window_plan_get(plan, k, &start, &end); k++) {
        if (!may_be_in(q, start, end))
            continue;
        if (!goes_on(q)) {
            unknown = true;
            break;
        }
        status = ask_in(q, start, end, MR_ALL_STEPS);
        unknown |= q->answer == MR_VERDICT_UNKNOWN;
        if (q->answer == MR_VERDICT_RACE)
            return status;
    }
    q->answer = unknown ? MR_VERDICT_UNKNOWN : MR_VERDICT_NO_RACE;
    return status;
}

/* ---- the whole trace ---- */

/* A window of at least the size with the span in its middle. */
static void around(const inquiry *q, uint32_t size, uint32_t *start, uint32_t *end)
{
    uint32_t span = q->last + 1 - q->first, half = size > span ? (size - span) / 2 : 0;
    uint32_t before = q->first, after = q->finder->asked.trace->event_count - 1 - q->last;
    *start = q->first - (before < half ? before : half);
    *end = q->last + 1 + (after < half ? after : half);
}

/* The least size of windows around, and the greatest: all are much smaller than the whole trace. */
static uint64_t least_around(const inquiry *q)
{
    uint32_t window = q->finder->context->settings->plan.size;
    return window && window < LEAST_WINDOW ? window : LEAST_WINDOW;
}

static uint64_t most_around(const inquiry *q)
{
    return q->finder->asked.trace->event_count / 2;
}

/* The next window around, of this `*size` or a larger one up to `most`, in which the question may be possible. False:
 * there is none. */
static bool next_around(const inquiry *q, uint64_t most, uint64_t *size, uint32_t *start,
                        uint32_t *end)
{
    for (; *size <= most; *size *= GROWTH) {
        if (q->last + 1 - q->first > *size / 2)
            continue;
        around(q, (uint32_t)*size, start, end);
        if (may_be_in(q, *start, *end))
            return true;
    }
    return false;
}

/* Asks in windows of growing size up to `most` until it is found. */
static mr_status ask_around(inquiry *q, uint64_t most, unsigned steps)
{
    mr_status status = MR_OK;
    uint32_t start, end;
    most = most < most_around(q) ? most : most_around(q);
    for (uint64_t size = least_around(q);
         status == MR_OK && goes_on(q) && next_around(q, most, &size, &start, &end);
         size *= GROWTH) {
        status = ask_in(q, start, end, steps);
        if (q->answer == MR_VERDICT_RACE)
            return status;
        q->own->windows++;
    }
    q->answer = MR_VERDICT_UNKNOWN;
    return status;
}

static bool has_around(const inquiry *q)
{
    uint64_t size = least_around(q);
    uint32_t start, end;
    return next_around(q, most_around(q), &size, &start, &end);
}

static bool is_open(const inquiry *q, mr_status status)
{
    return status == MR_OK && q->answer == MR_VERDICT_UNKNOWN;
}

static const mr_problem *whole_of(const inquiry *q)
{
    return q->finder->has_whole ? &q->finder->whole : NULL;
}

static mr_status ask_near(inquiry *q)
{
    const mr_problem *whole = whole_of(q);
    mr_status status = MR_OK;
    if (whole)
        status = ask(q, whole, GLANCE);
    if (is_open(q, status))
        status = ask_around(q, SMALL_WINDOW, q->own->windows >= WINDOWS_IN_VAIN ? SEARCH : LIGHT);
    return status;
}

static bool looks_are_in_vain(const inquiry *q)
{
    return q->own->looks >= LOOKS_IN_VAIN && !q->own->proofs_by_look;
}

static mr_status look_at_whole(inquiry *q)
{
    const mr_problem *whole = whole_of(q);
    bool large = whole && whole->window->size > SMALL_WINDOW;
    mr_status status = MR_OK;
    /* The question to all steps, in the last round, begins with those without a formula. They are asked before it only when
     * windows come in between. */
    if (whole && (large || has_around(q)) && !looks_are_in_vain(q) && goes_on(q)) {
        status = ask(q, whole, LOOK);
        q->own->looks++;
        q->own->proofs_by_look += q->answer == MR_VERDICT_NO_RACE;
    }
    if (is_open(q, status) && large && goes_on(q))
        status = ask(q, whole, SEARCH);
    return status;
}

static mr_status decide_by_whole(inquiry *q)
{
    const mr_problem *whole = whole_of(q);
    bool windows = has_around(q);
    mr_status status = MR_OK;
    if (whole && looks_are_in_vain(q) && goes_on(q)) {
        q->long_search = true;
        status = ask(q, whole, SEARCH);
    }
    if (windows && whole && is_open(q, status) && goes_on(q))
        status = ask(q, whole, SOLID);
    if (windows && is_open(q, status))
        status = ask_around(q, UINT32_MAX, MR_ALL_STEPS);
    if (is_open(q, status) && whole && goes_on(q))
        status = ask(q, whole, MR_ALL_STEPS);
    return status;
}

/* What comes later takes more: all questions of a group go through a round before one of them is taken up in the next. A group may
 * have thousands, and the first one that is found settles it. */
typedef mr_status round_of(inquiry *q);
static round_of *const rounds_of_whole[] = {ask_near, look_at_whole, decide_by_whole};
static round_of *const rounds_of_plan[] = {decide_by_plan};

/* ---- a group ---- */

static void note_unknown(const inquiry *q)
{
    mr_finding_unknown *open = &q->verdict->open;
    const mr_asked_trace *asked = &q->finder->asked;
    const uint32_t *events = asked->events;
    uint32_t end = q->end ? q->end : asked->trace->event_count;
    *open = (mr_finding_unknown){.kind = q->question->kind,
                                 .first = events ? events[q->first] : q->first,
                                 .second = events ? events[q->last] : q->last,
                                 .window_start = events ? events[q->start] : q->start,
                                 .window_end = events ? events[end - 1] + 1 : end,
                                 .reason = q->reason};
    memcpy(open->detail, q->detail, sizeof open->detail);
}

static mr_status decide_question(inquiry *q, round_of *round)
{
    mr_question_span(&q->finder->asked, q->question, &q->first, &q->last);
    if (!mr_asked_writes_fit(&q->finder->writes, &q->finder->asked, q->question, &q->own->fitting))
        return mr_error_memory(q->own->worker.error, "looking for findings");
    q->answer = MR_VERDICT_UNKNOWN;
    q->reason = q->finder->no_room ? MR_UNKNOWN_MEMORY : MR_UNKNOWN_SIZE;
    return round(q);
}

/* The open questions of a group in a round, up to the first one that is found; keeps those that stay open. `*ended`: there is no
 * further round. */
static mr_status decide_round(mr_finder *finder, mr_finder_worker *own, unsigned number,
                              mr_finding_verdict *verdict, bool *halted, bool *ended)
{
    round_of *const *rounds = finder->whole_scope ? rounds_of_whole : rounds_of_plan;
    unsigned last =
        (finder->whole_scope ? sizeof rounds_of_whole / sizeof *rounds_of_whole : 1) - 1;
    mr_status status = MR_OK;
    mr_u32s *open = &own->open;
    size_t kept = 0;
    *ended = number == last;
    for (size_t i = 0; status == MR_OK && i < open->count; i++) {
        inquiry q = {.finder = finder,
                     .own = own,
                     .question = &finder->questions.items[open->items[i]],
                     .verdict = verdict};
        verdict->questions += !number;
        status = decide_question(&q, rounds[number]);
        *halted = q.halted;
        if (status != MR_OK || q.halted || q.answer == MR_VERDICT_RACE) {
            verdict->verdict = q.answer;
            *ended = true;
            return status;
        }
        if (q.answer == MR_VERDICT_UNKNOWN) {
            open->items[kept++] = open->items[i];
            if (kept == 1)
                note_unknown(&q);
        }
        if (!kept || goes_on(&q))
            continue;
        /* What is left could change nothing but at a price. */
        if (number < last)
            note_unknown(&q);
        *ended = true;
        break;
    }
    open->count = kept;
    verdict->verdict = kept ? MR_VERDICT_UNKNOWN : MR_VERDICT_NO_RACE;
    *ended |= !kept;
    return status;
}

mr_status mr_finder_decide(mr_finder *finder, mr_finder_worker *own, uint32_t group,
                           mr_finding_verdict *verdict, bool *halted)
{
    mr_status status = MR_OK;
    bool ended = false;
    *verdict = (mr_finding_verdict){.verdict = MR_VERDICT_NO_RACE};
    *halted = false;
    own->open.count = 0;
    own->windows = own->looks = own->proofs_by_look = 0;
    for (uint32_t i = finder->group_first[group]; i < finder->group_first[group + 1]; i++)
        if (!mr_u32s_push(&own->open, finder->of_group[i]))
            return mr_error_memory(own->worker.error, "looking for findings");
    for (unsigned number = 0; status == MR_OK && !ended; number++)
        status = decide_round(finder, own, number, verdict, halted, &ended);
    MR_DEBUG(finder->context->settings->debug, FAR,
             "finding=%s group=%" PRIu32 " verdict=%s questions=%" PRIu64 " effort=%" PRIu64,
             mr_witness_kind_name(finder->questions.groups[group].kind), group,
             verdict->verdict == MR_VERDICT_RACE      ? "found"
             : verdict->verdict == MR_VERDICT_UNKNOWN ? "unknown"
                                                      : "impossible",
             verdict->questions, verdict->effort);
    return status;
}
