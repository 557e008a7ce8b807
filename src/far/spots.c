#include "spots.h"

#include "base/assert.h"
#include "solver/cone.h"

/* Looks: parts of the budget of elimination, for lists that may be divided and for a spot. */
enum { PART_OF_LISTS = 1024, PART_OF_SPOT = 16 };

/* Two stops of a spot have a look of their own when there are no more than so many such pairs. */
enum { MOST_PAIRS = 16 };

/* Regions: their events before the stops, which double from the first region to the last; of a spot, another one
 * before a longer look. Lists that may be divided have them when they span fewer events than REGION_LENGTH, each
 * with a part of the budget of saturation. */
enum {
    FIRST_EVENTS = 1 << 10,
    EVENTS_OF_LISTS = 1 << 13,
    EVENTS_OF_SPOT = 1 << 15,
    MOST_EVENTS = 1 << 16,
    PART_OF_STEPS = 16,
    REGION_LENGTH = 1024
};

/* A region has all that is between the stops. When they are farther apart than this, most proofs need little of what is before
 * them: it has one of so many parts of that, but for the largest region. */
enum { FAR_APART = 1 << 14, PART_BEFORE = 8 };

/* Asks about two lists. */
static mr_status ask(mr_far_spots *s, mr_stops one, mr_stops two, const mr_decide_options *options,
                     bool *proven)
{
    mr_worker *worker = s->worker;
    bool whole = !options->only_near_part && !options->only_near_events;
    mr_decision decision;
    mr_arena_mark mark = mr_arena_get_mark(&worker->arena);
    mr_status status = mr_decide_any(s->problem, worker->session, options, one, two, &worker->arena,
                                     &decision, worker->error);
    mr_arena_release(&worker->arena, mark);
    for (int step = 0; step < MR_STEP_COUNT; step++)
        worker->run.step_seconds[step] += decision.seconds[step];
    s->effort += whole ? mr_far_effort(worker, &decision) : decision.effort;
    *proven = status == MR_OK && decision.verdict == MR_VERDICT_NO_RACE;
    if (*proven)
        s->step = decision.step;
    return status;
}

/* A look at the rows near the accesses, without saturation. */
static mr_status look(mr_far_spots *s, mr_stops one, mr_stops two, uint32_t part, bool *proven)
{
    mr_decide_options options = s->options;
    options.steps &= ~MR_STEP_BIT(MR_STEP_SATURATE);
    options.only_near_part = part;
    return ask(s, one, two, &options, proven);
}

/* How many events of the window are between the first and the last stop. */
static uint32_t distance(mr_stops one, mr_stops two)
{
    uint32_t first = one.events[0] < two.events[0] ? one.events[0] : two.events[0];
    uint32_t last_one = mr_stops_last(&one), last_two = mr_stops_last(&two);
    return (last_one > last_two ? last_one : last_two) - first;
}

/* Saturation of a formula about a region. */
static mr_status saturate(mr_far_spots *s, mr_stops one, mr_stops two, uint32_t events,
                          uint32_t part, bool *proven)
{
    mr_decide_options options = s->options;
    options.steps &= ~MR_STEP_BIT(MR_STEP_SATURATE); /* of the cone */
    options.only_near_events = options.only_near_apart = events;
    if (events < MOST_EVENTS && distance(one, two) > FAR_APART)
        options.only_near_events /= PART_BEFORE;
    options.saturate_steps /= part;
    return ask(s, one, two, &options, proven);
}

/* Saturation of formulas about ever larger regions, as most proofs need a small one. */
static mr_status saturate_more(mr_far_spots *s, mr_stops one, mr_stops two, uint32_t most,
                               uint32_t part, bool *proven)
{
    mr_status status = MR_OK;
    s->region = 0;
    for (uint32_t events = FIRST_EVENTS; status == MR_OK && !*proven && events <= most;
         events *= 2) {
        status = saturate(s, one, two, events, part, proven);
        if (*proven)
            s->region = events;
    }
    return status;
}

/* A spot that needs a large region often has neighbours with the same proof. So the list beside it is asked about
 * as a whole first, once, with the same region and budget. */
static mr_status saturate_again(mr_far_spots *s, mr_stops one, mr_stops two, bool *proven)
{
    uint32_t events = s->region;
    if (events <= EVENTS_OF_LISTS)
        return MR_OK;
    mr_status status = saturate(s, one, two, events, 1, proven);
    s->region = *proven ? events : 0;
    return status;
}

/* How many events of its thread a list spans. */
static uint32_t length(const mr_far_spots *s, mr_stops stops)
{
    const uint32_t *position = s->problem->window->position;
    return position[mr_stops_last(&stops)] - position[stops.events[0]];
}

/* What is required for one stop is more than what is required for any of a few, and its proof may be short where
 * the one about all has none. So each two stops of a spot have a look of their own. */
static mr_status look_at_each(mr_far_spots *s, mr_stops one, mr_stops two, bool *proven)
{
    mr_status status = MR_OK;
    uint64_t pairs = (uint64_t)one.count * two.count;
    *proven = pairs <= MOST_PAIRS;
    for (uint64_t i = 0; status == MR_OK && *proven && i < pairs; i++) {
        const mr_stops first = {one.events + i / two.count, 1};
        const mr_stops second = {two.events + i % two.count, 1};
        status = look(s, first, second, PART_OF_LISTS, proven);
    }
    return status;
}

/* Where there are regions, a longer look proves nothing that the largest of them does not. */
static bool has_regions(const mr_far_spots *s)
{
    return s->options.saturate_steps && s->problem->window->model != MR_MODEL_BRANCH;
}

/* A spot that has no proof by the means for longer lists. */
static mr_status prove_spot(mr_far_spots *s, mr_stops one, mr_stops two, bool *proven)
{
    mr_status status = saturate_more(s, one, two, EVENTS_OF_SPOT, 1, proven);
    if (status == MR_OK && !*proven)
        status = look_at_each(s, one, two, proven);
    if (status == MR_OK && !*proven) {
        status = saturate(s, one, two, MOST_EVENTS, 1, proven);
        s->region = *proven ? MOST_EVENTS : 0;
    }
    if (status == MR_OK && !*proven && !has_regions(s))
        status = look(s, one, two, PART_OF_SPOT, proven);
    bool search = s->options.steps & MR_STEP_BIT(MR_STEP_SATURATE);
    return status == MR_OK && !*proven && search ? ask(s, one, two, &s->options, proven) : status;
}

static bool gives_up(const mr_far_spots *s)
{
    return (s->most && s->effort > s->most) || mr_arena_is_halted(&s->worker->arena);
}

/* False: what is required leaves no two stops. Else the goal has those that are left. */
static bool narrow(mr_far_spots *s, mr_goal *goal)
{
    bool forced = s->options.steps & MR_STEP_BIT(MR_STEP_CONE);
    bool left = mr_cone_narrow(forced ? &s->problem->forced : &s->problem->hard, goal);
    if (!left)
        s->step = forced ? MR_STEP_CONE : MR_STEP_FILTER;
    return left;
}

/* `whole`: the lists are those that were asked about. */
static mr_status prove(mr_far_spots *s, mr_stops one, mr_stops two, bool whole, bool *proven)
{
    mr_stops stops[] = {one, two};
    mr_goal goal = {.stops = stops, .stop_count = 2};
    *proven = !narrow(s, &goal);
    if (*proven || gives_up(s))
        return MR_OK;
    const uint32_t lengths[] = {length(s, stops[0]), length(s, stops[1])};
    int longer = lengths[1] > lengths[0];
    mr_status status = saturate_again(s, stops[0], stops[1], proven);
    if (status == MR_OK && !*proven && lengths[longer] < s->stretch)
        return prove_spot(s, stops[0], stops[1], proven);
    if (status == MR_OK && !*proven && lengths[longer] < REGION_LENGTH)
        status = saturate_more(s, stops[0], stops[1], EVENTS_OF_LISTS, PART_OF_STEPS, proven);
    bool looks = whole ? !s->looked : lengths[longer] < REGION_LENGTH;
    if (status == MR_OK && !*proven && looks)
        status = look(s, stops[0], stops[1], PART_OF_LISTS, proven);
    if (*proven || status != MR_OK || gives_up(s))
        return status;
    mr_stops *list = &stops[longer];
    uint32_t count = list->count, half = count / 2;
    MR_ASSERT(half > 0 && half < count); /* both halves are smaller, so the recursion ends */
    list->count = half;
    status = prove(s, stops[0], stops[1], false, proven);
    if (!*proven || status != MR_OK)
        return status;
    list->events += half;
    list->count = count - half;
    return prove(s, stops[0], stops[1], false, proven);
}

mr_status mr_far_spots_prove(mr_far_spots *spots, mr_stops one, mr_stops two, bool *proven)
{
    return prove(spots, one, two, true, proven);
}
