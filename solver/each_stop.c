#include "each_stop.h"

#include "cone.h"

/* All choices together have one of so many parts of the effort. */
enum { MOST_CHOICES = 64, PART = 8 };

/* One choice, with what it needs. */
typedef struct chosen {
    mr_goal goal;
    mr_stops *stops;
    uint32_t *required, *allowed;
} chosen;

static bool make_chosen(chosen *one, const mr_goal *goal, uint32_t threads, mr_arena *arena)
{
    one->goal = *goal;
    one->goal.stops = one->stops = mr_arena_alloc(arena, goal->stop_count, sizeof *one->stops);
    one->required = mr_arena_alloc(arena, threads, sizeof *one->required);
    one->allowed = mr_arena_alloc(arena, threads, sizeof *one->allowed);
    return one->stops && one->required && one->allowed;
}

/* The choice with this number. */
static void choose(const chosen *one, const mr_goal *goal, uint32_t number)
{
    for (uint32_t i = 0; i < goal->stop_count; i++) {
        const mr_stops *list = &goal->stops[i];
        one->stops[i] = (mr_stops){.events = &list->events[number % list->count], .count = 1};
        number /= list->count;
    }
}

/* L and U of the choice, within those of the list. False: it has no witness. */
static bool bound(const chosen *one, const mr_precedence *forced, const uint32_t *required,
                  const uint32_t *allowed)
{
    if (!mr_cone_required(forced, &one->goal, one->required))
        return false;
    mr_cone_allowed(forced, &one->goal, one->allowed);
    for (uint32_t t = 0; t < forced->window->thread_count; t++) {
        if (required[t] > one->required[t])
            one->required[t] = required[t];
        if (allowed[t] < one->allowed[t])
            one->allowed[t] = allowed[t];
        if (one->required[t] > one->allowed[t])
            return false;
    }
    return true;
}

/* How many choices there are; 0: too many. */
static uint32_t count_choices(const mr_goal *goal)
{
    uint64_t choices = 1;
    for (uint32_t i = 0; i < goal->stop_count && choices <= MOST_CHOICES; i++)
        choices *= goal->stops[i].count;
    return choices <= MOST_CHOICES ? (uint32_t)choices : 0;
}

bool mr_each_stop_refute(const mr_precedence *forced, const mr_rows *rows, const mr_goal *goal,
                         const uint32_t *required, const uint32_t *allowed,
                         const mr_eliminate_limits *limits, uint64_t *effort, mr_arena *arena)
{
    chosen one;
    uint32_t choices = count_choices(goal);
    mr_eliminate_limits left = {limits->effort / PART, limits->memory_bytes};
    if (choices < 2)
        return false;
    mr_arena_mark mark = mr_arena_get_mark(arena);
    bool refuted = make_chosen(&one, goal, forced->window->thread_count, arena);
    for (uint32_t i = 0; refuted && i < choices; i++) {
        uint64_t spent = 0;
        mr_arena_mark before = mr_arena_get_mark(arena);
        choose(&one, goal, i);
        refuted = !mr_arena_is_halted(arena) &&
                  (!bound(&one, forced, required, allowed) ||
                   mr_eliminate_near(forced, rows, &one.goal, one.required, one.allowed, &left,
                                     &spent, arena) == MR_ELIMINATED_ALL);
        mr_arena_release(arena, before);
        *effort += spent;
        refuted = refuted && (!limits->effort || spent < left.effort);
        left.effort -= limits->effort ? spent : 0;
    }
    mr_arena_release(arena, mark);
    return refuted;
}
