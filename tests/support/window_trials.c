#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "window_trials.h"

#include "random.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void mr_window_trials_wrong(mr_window_trials *self, const char *format, ...)
{
    const mr_window *w = self->setup.window;
    va_list arguments;
    if (self->wrong[0])
        return;
    int length =
        snprintf(self->wrong, sizeof self->wrong, "in [%" PRIu32 ", %" PRIu32 "), %s: ", w->start,
                 w->end, mr_model_name(w->model));
    va_start(arguments, format);
    vsnprintf(self->wrong + length, sizeof self->wrong - (size_t)length, format, arguments);
    va_end(arguments);
}

void mr_window_trials_check(mr_window_trials *self, uint32_t one, uint32_t two,
                            const uint32_t *events, uint32_t count, const char *how)
{
    const mr_window *w = self->setup.window;
    uint32_t copy[MR_EXHAUSTIVE_EVENTS];
    mr_error error = {0};
    assert_true(count <= MR_EXHAUSTIVE_EVENTS);
    for (uint32_t i = 0; i < count; i++)
        copy[i] = w->start + events[i];
    mr_witness witness = {.first = w->start + (one < two ? one : two),
                          .second = w->start + (one < two ? two : one),
                          .window_start = w->start,
                          .window_end = w->end,
                          .model = w->model,
                          .events = copy,
                          .event_count = count};
    if (mr_checker_check(self->checker, &witness, &error) != MR_OK)
        mr_window_trials_wrong(self, "%" PRIu32 "-%" PRIu32 "%s: %s", witness.first, witness.second,
                               how, error.text);
}

bool mr_cone_question_pose(mr_cone_question *q, mr_setup *setup)
{
    q->goal = (mr_goal){.stops = q->stops, .stop_count = 2};
    if (!mr_cone_narrow(&setup->forced, &q->goal))
        return false;
    mr_cone_required(&setup->forced, &q->goal, q->required);
    mr_cone_allowed(&setup->forced, &q->goal, q->allowed);
    assert_true(mr_cone_close(&setup->hard, &setup->forced, q->required, q->allowed, &q->goal,
                              q->cone, &setup->arena));
    return true;
}

static bool in_list(const mr_window_trials *self, const mr_stops *list, uint32_t trace_event)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (self->setup.window->start + list->events[i] == trace_event)
            return true;
    return false;
}

bool mr_window_trials_is_between(const mr_window_trials *self, const mr_pair *race,
                                 const mr_stops *one, const mr_stops *two)
{
    return (in_list(self, one, race->first) && in_list(self, two, race->second)) ||
           (in_list(self, two, race->first) && in_list(self, one, race->second));
}

static void ask(mr_window_trials *self, mr_stops one, mr_stops two)
{
    mr_arena_mark mark = mr_arena_get_mark(&self->setup.arena);
    self->ask(self->context, one, two);
    mr_arena_release(&self->setup.arena, mark);
}

/* The accesses of the event's thread to its variable, by the same operation and with the same end of
 * its object's life, from it on: as access_groups.c takes them for alike. */
static mr_stops list_from(const mr_window *w, uint32_t event, uint32_t *events)
{
    uint32_t count = 0;
    for (uint32_t i = event; i < w->size; i++)
        if (w->thread[i] == w->thread[event] && mr_window_op(w, i) == mr_window_op(w, event) &&
            w->object[i] == w->object[event] &&
            mr_window_end_of_life(w, i) == mr_window_end_of_life(w, event))
            events[count++] = i;
    return (mr_stops){events, count};
}

/* The accesses of the event's thread with the same end of life, from it on. */
static mr_stops bundle_from(const mr_window *w, uint32_t event, uint32_t *events)
{
    uint32_t count = 0;
    for (uint32_t i = event; i < w->size; i++)
        if (w->thread[i] == w->thread[event] &&
            (mr_op_is_access(mr_window_op(w, i)) || mr_op_ends_life(mr_window_op(w, i))) &&
            mr_window_end_of_life(w, i) == mr_window_end_of_life(w, event))
            events[count++] = i;
    return (mr_stops){events, count};
}

static void examine_window(mr_window_trials *self)
{
    const mr_window *w = self->setup.window;
    for (uint32_t a = 0; a < w->size; a++) {
        for (uint32_t b = a + 1; b < w->size && !self->wrong[0]; b++) {
            uint32_t events[2][MR_EXHAUSTIVE_EVENTS];
            if (!mr_exhaustive_conflict(w->trace, w->start + a, w->start + b))
                continue;
            ask(self, (mr_stops){&a, 1}, (mr_stops){&b, 1});
            mr_stops one = list_from(w, a, events[0]), two = list_from(w, b, events[1]);
            uint32_t lists = one.count + two.count;
            if (self->lists && lists > 2)
                ask(self, one, two);
            one = bundle_from(w, a, events[0]);
            two = bundle_from(w, b, events[1]);
            if (self->bundles && one.count + two.count > lists)
                ask(self, one, two);
        }
    }
}

void mr_window_trials_examine(mr_window_trials *self, mr_trial *trial)
{
    mr_random random = {trial->choice};
    uint32_t count = trial->trace->event_count;
    self->wrong[0] = '\0';
    mr_setup_take(&self->setup, trial->trace);
    self->checker = mr_checker_new(trial->trace, MR_OPAQUE_PAIR);
    assert_non_null(self->checker);
    for (int model = 0; model <= MR_MODEL_BRANCH && !self->wrong[0] && count > 1; model++) {
        bool whole = mr_random_percent(&random, 60);
        uint32_t start = whole ? 0 : mr_random_below(&random, count / 2);
        uint32_t end = whole ? count : mr_random_range(&random, start + 1, count);
        const mr_exhaustive_options options = {.model = (mr_model)model,
                                               .whole = self->every_witness};
        mr_setup_window(&self->setup, start, end, (mr_model)model);
        assert_true(mr_exhaustive_find_with(trial->trace, &options, start, end, &self->search));
        examine_window(self);
        mr_exhaustive_free(&self->search);
    }
    if (self->wrong[0])
        mr_trial_wrong(trial, "%s", self->wrong);
    mr_checker_free(self->checker);
    mr_setup_give_back(&self->setup);
}

void mr_window_trials_trial(mr_trial *trial, void *self)
{
    mr_window_trials_examine(self, trial);
}
