#include "base/memory.h"
#include "finder.h"
#include "goals/candidates.h"
#include "solver/cone.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

/* With more threads the whole window is smaller: its clocks have an entry for each thread. */
enum { THREADS_OF_FULL_SIZE = 32 };

/* ---- questions ---- */

static bool collect(mr_finder *finder, const mr_findings_wanted *wanted)
{
    const mr_predict_settings *settings = finder->context->settings;
    const mr_trace *trace = settings->trace;
    mr_questions *all = &finder->questions;
    bool by_event = settings->by_event, complete = true;
    if (wanted->memory && !mr_memory_candidates(all, trace, by_event))
        return false;
    if (wanted->deadlocks && !mr_deadlock_candidates(all, trace, by_event, &complete))
        return false;
    finder->context->merge->result->stats.cycles_missing |= !complete;
    return !wanted->pointers || mr_pointer_candidates(all, trace, by_event);
}

static bool add_sees(mr_finder *finder, const mr_sees *sees)
{
    mr_questions *all = &finder->questions;
    const uint32_t variable = finder->asked.trace->operand[sees->read];
    mr_question question = {.kind = MR_WITNESS_SEES,
                            .list_count = 1,
                            .required = MR_NONE,
                            .variable = variable,
                            .value = sees->value,
                            .write = sees->write,
                            .write_place = MR_NONE};
    return mr_questions_group(all, MR_WITNESS_SEES, &sees->read, 1, &question.group) &&
           mr_questions_list(all, &sees->read, 1, &question.first_list) &&
           mr_questions_add(all, &question);
}

/* Sorts the questions by group. */
static bool group_questions(mr_finder *finder)
{
    const mr_questions *all = &finder->questions;
    finder->group_first = mr_calloc((size_t)all->group_count + 2, sizeof *finder->group_first);
    finder->of_group = mr_calloc(all->count, sizeof *finder->of_group);
    if (!finder->group_first || !finder->of_group)
        return false;
    uint32_t *next =
        finder->group_first + 1; /* of group g: next[g] is its first place, then its end */
    for (uint32_t i = 0; i < all->count; i++)
        next[all->items[i].group + 1]++;
    for (uint32_t g = 0; g < all->group_count; g++)
        next[g + 1] += next[g];
    for (uint32_t i = 0; i < all->count; i++)
        finder->of_group[next[all->items[i].group]++] = i;
    return true;
}

/* ---- the reduced trace ---- */

static bool keep_names(const mr_finder *finder, mr_reduction_keep *keep)
{
    const mr_trace *trace = finder->context->settings->trace;
    const mr_questions *all = &finder->questions;
    keep->variables = mr_calloc(trace->variables.count, 1);
    keep->locks = mr_calloc(trace->locks.count, 1);
    keep->objects = mr_calloc(trace->objects.count, 1);
    if (!keep->variables || !keep->locks || !keep->objects)
        return false;
    for (size_t i = 0; i < all->events.count; i++) {
        uint32_t event = all->events.items[i];
        if (mr_op_is_access(trace->op[event]))
            keep->variables[trace->operand[event]] = 1;
        else
            keep->locks[trace->operand[event]] = 1;
    }
    for (size_t i = 0; i < all->objects.count; i++)
        keep->objects[all->objects.items[i]] = 1;
    for (uint32_t i = 0; i < all->count; i++)
        if (all->items[i].required != MR_NONE)
            keep->objects[trace->operand[all->items[i].required]] = 1;
    return true;
}

static mr_status reduce(mr_finder *finder, mr_error *error)
{
    const mr_predict_settings *settings = finder->context->settings;
    mr_reduction_keep keep = {0};
    mr_status status = keep_names(finder, &keep)
                           ? mr_reduce(&finder->reduction, settings->trace, &settings->opaque,
                                       settings->model, &keep, error)
                           : mr_error_memory(error, "looking for findings");
    free(keep.variables);
    free(keep.locks);
    free(keep.objects);
    finder->asked.trace = &finder->reduction.trace;
    finder->asked.events = finder->reduction.events;
    return status;
}

/* Finds the events of the lists in the asked trace. */
static bool find_listed(mr_finder *finder)
{
    const mr_u32s *events = &finder->questions.events;
    finder->listed = mr_calloc(events->count, sizeof *finder->listed);
    for (size_t i = 0; finder->listed && i < events->count; i++)
        finder->listed[i] = mr_asked_event(&finder->asked, events->items[i]);
    finder->asked.listed = finder->listed;
    return finder->listed != NULL;
}

/* Memory of a window with its precedences (far/estimate.h). */
enum { BYTES_OF_EVENT = 170, BYTES_OF_VARIABLE = 12 };

/* Memory that raising the precedence takes: rows of two clocks, and what elimination notes of a row. */
enum { BYTES_OF_CLOCKS = 8, BYTES_OF_ROW = 32 };

/* Takes memory from the room. False: there is not so much. */
static bool hold(mr_finder *finder, uint64_t bytes)
{
    mr_room *room = finder->context->settings->room;
    if (!room)
        return true;
    if (mr_room_left(room) < bytes)
        return false;
    finder->held_bytes += bytes;
    mr_room_hold(room, MR_ROOM_FAR, bytes);
    return true;
}

static bool hold_whole(mr_finder *finder)
{
    const mr_trace *trace = finder->asked.trace;
    uint64_t bytes = trace->event_count * (BYTES_OF_EVENT + (uint64_t)trace->threads.count) +
                     BYTES_OF_VARIABLE * (uint64_t)trace->variables.count;
    finder->no_room = !hold(finder, bytes);
    return !finder->no_room;
}

/* ---- the precedence of the whole window ---- */

/* So many of all questions are looked at, evenly spread. Filter and cone leave many when they leave one of these for every so many
 * events: raising the precedence takes as long as looking at so many events for each. */
enum { LOOKED_AT = 256, EVENTS_OF_LEFT = 1024 };

/* Do filter and cone leave many questions? Each of these takes a proof or a search of its own, unless the raised precedence
 * settles it. */
static bool leaves_many(mr_finder *finder, mr_arena *arena)
{
    const mr_questions *all = &finder->questions;
    size_t step = all->count / LOOKED_AT + 1;
    uint64_t left = 0;
    for (size_t i = 0; i < all->count; i += step) {
        mr_goal goal;
        mr_arena_mark mark = mr_arena_get_mark(arena);
        if (mr_pose(&finder->asked, &all->items[i], finder->whole.window, &goal, arena) == MR_POSED)
            left += mr_cone_narrow(&finder->whole.forced, &goal);
        mr_arena_release(arena, mark);
    }
    return left * EVENTS_OF_LEFT >= finder->whole.window->size;
}

/* False: no memory. */
static bool raise_precedence(mr_finder *finder)
{
    const mr_trace *trace = finder->asked.trace;
    uint64_t bytes_of_row = BYTES_OF_CLOCKS * (uint64_t)trace->threads.count + BYTES_OF_ROW;
    return !leaves_many(finder, &finder->arena) ||
           !hold(finder, trace->event_count * bytes_of_row) ||
           mr_problem_refine(&finder->whole, &finder->context->settings->decide, 0, &finder->arena);
}

/* The whole window, unless it is too large. */
static mr_status build_whole(mr_finder *finder, mr_error *error)
{
    const mr_predict_settings *settings = finder->context->settings;
    const mr_trace *trace = finder->asked.trace;
    uint64_t size = settings->far_limits.size, threads = trace->threads.count;
    mr_window *window;
    if (threads > THREADS_OF_FULL_SIZE)
        size = size * THREADS_OF_FULL_SIZE / threads;
    mr_status status = mr_carried_init(&finder->carried, trace, error);
    if (status != MR_OK || !trace->event_count || (size && trace->event_count > size) ||
        !hold_whole(finder))
        return status;
    finder->carried.barrier_edges = &finder->reduction.opaque;
    status = mr_window_build(&finder->carried, trace->event_count, settings->model, &finder->arena,
                             &window, error);
    if (status == MR_OK &&
        (!mr_problem_init(&finder->whole, window, &finder->arena) ||
         !mr_problem_list_rows(&finder->whole, &settings->decide, &finder->arena) ||
         !raise_precedence(finder)))
        status = mr_error_memory(error, "looking for findings");
    finder->has_whole = status == MR_OK;
    return status;
}

mr_status mr_finder_init(mr_finder *finder, const mr_far_context *context,
                         const mr_findings_wanted *wanted, mr_error *error)
{
    const mr_predict_settings *settings = context->settings;
    *finder = (mr_finder){.context = context,
                          .whole_scope = settings->far != MR_FAR_NONE,
                          .asked = {.trace = settings->trace, .full = settings->trace}};
    finder->asked.questions = &finder->questions;
    mr_arena_init(&finder->arena);
    finder->arena.halt = settings->halt;
    pthread_mutex_init(&finder->lock, NULL);
    finder->workers = mr_calloc(context->dispatch->jobs, sizeof *finder->workers);
    if (!finder->workers || !collect(finder, wanted) ||
        (wanted->sees && !add_sees(finder, wanted->sees)) || !group_questions(finder))
        return mr_error_memory(error, "looking for findings");
    if (!finder->questions.count)
        return MR_OK;
    mr_status status = finder->whole_scope ? reduce(finder, error) : MR_OK;
    if (status == MR_OK &&
        (!find_listed(finder) || !mr_asked_writes_find(&finder->writes, &finder->asked)))
        status = mr_error_memory(error, "looking for findings");
    return status == MR_OK && finder->whole_scope ? build_whole(finder, error) : status;
}

void mr_finder_free(mr_finder *finder)
{
    for (unsigned i = 0; finder->workers && i < finder->context->dispatch->jobs; i++) {
        if (!finder->workers[i])
            continue;
        mr_worker_leave(&finder->workers[i]->worker);
        mr_carried_free(&finder->workers[i]->worker.carried);
        mr_u32s_free(&finder->workers[i]->fitting);
        mr_u32s_free(&finder->workers[i]->open);
        free(finder->workers[i]);
    }
    free(finder->workers);
    free(finder->listed);
    mr_asked_writes_free(&finder->writes);
    free(finder->of_group);
    free(finder->group_first);
    mr_questions_free(&finder->questions);
    mr_reduction_free(&finder->reduction);
    mr_carried_free(&finder->carried);
    mr_arena_free(&finder->arena);
    if (finder->held_bytes)
        mr_room_give(finder->context->settings->room, MR_ROOM_FAR, finder->held_bytes);
    pthread_mutex_destroy(&finder->lock);
}

/* ---- workers ---- */

/* mr_worker.expand */
static mr_status expand(const void *context, mr_witness *witness, mr_error *error)
{
    return mr_reduction_expand(context, witness, error);
}

static mr_status start_worker(const mr_finder *finder, unsigned number, mr_finder_worker *made,
                              mr_error *error)
{
    const mr_far_context *context = finder->context;
    const mr_barrier_edges *opaque =
        finder->whole_scope ? &finder->reduction.opaque : &context->settings->opaque;
    mr_worker *full = NULL;
    mr_status status = context->worker_of(context->context, number, &full, error);
    if (status == MR_OK && !mr_worker_checker(full))
        status = mr_error_memory(error, "looking for findings");
    if (status != MR_OK)
        return status;
    made->worker = (mr_worker){.settings = context->settings,
                               .trace = finder->asked.trace,
                               .session = full->session,
                               .checker = full->checker,
                               .decide = context->settings->decide,
                               .expand = finder->whole_scope ? expand : NULL,
                               .expand_context = &finder->reduction,
                               .opaque = opaque};
    mr_arena_init(&made->worker.arena);
    made->worker.arena.halt = context->settings->halt;
    status = mr_carried_init(&made->worker.carried, made->worker.trace, error);
    made->worker.carried.barrier_edges = opaque;
    return status;
}

mr_status mr_finder_worker_get(mr_finder *finder, unsigned number, mr_finder_worker **worker,
                               mr_error *error)
{
    mr_status status = MR_OK;
    MR_REQUIRE(number < finder->context->dispatch->jobs);
    if (!finder->workers[number]) {
        finder->workers[number] = mr_calloc(1, sizeof **worker);
        if (!finder->workers[number])
            return mr_error_memory(error, "looking for findings");
        status = start_worker(finder, number, finder->workers[number], error);
    }
    *worker = finder->workers[number];
    return status;
}
