#include "pose.h"

#include "base/assert.h"

#include <string.h>

uint32_t mr_asked_event(const mr_asked_trace *asked, uint32_t event)
{
    uint32_t low = 0, high = asked->trace->event_count;
    if (!asked->events || event == MR_NONE)
        return event;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (asked->events[middle] < event)
            low = middle + 1;
        else
            high = middle;
    }
    MR_ASSERT(low < asked->trace->event_count && asked->events[low] == event);
    return low;
}

/* A goal that is being filled. */
typedef struct poser {
    const mr_asked_trace *asked;
    const mr_question *question;
    const mr_window *window;
    mr_goal *goal;
    mr_arena *arena;
    uint32_t *required, *barred;
} poser;

static bool is_inside(const poser *p, uint32_t event)
{
    return event >= p->window->start && event < p->window->end;
}

static void require(poser *p, uint32_t event)
{
    p->required[p->goal->required_count++] = event - p->window->start;
}

/* ---- stops ---- */

/* How many events of the list are before `event`. */
static uint32_t count_before(const uint32_t *events, uint32_t count, uint32_t event)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (events[middle] < event)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static mr_posed pose_list(poser *p, const mr_question_list *list, mr_stops *stops)
{
    const uint32_t *events = p->asked->listed + list->first;
    uint32_t start = p->window->start, first = count_before(events, list->count, start);
    uint32_t count = count_before(events, list->count, p->window->end) - first;
    *stops = (mr_stops){events + first, count};
    if (!count)
        return MR_POSED_IMPOSSIBLE;
    if (!start)
        return MR_POSED; /* events of the window have the same numbers */
    uint32_t *inside = mr_arena_alloc(p->arena, count, sizeof *inside);
    for (uint32_t i = 0; inside && i < count; i++)
        inside[i] = events[first + i] - start;
    stops->events = inside;
    return inside ? MR_POSED : MR_POSED_NO_MEMORY;
}

static mr_posed pose_stops(poser *p)
{
    const mr_question *q = p->question;
    p->goal->stops = mr_arena_alloc(p->arena, q->list_count, sizeof *p->goal->stops);
    if (!p->goal->stops)
        return MR_POSED_NO_MEMORY;
    p->goal->stop_count = q->list_count;
    for (uint32_t i = 0; i < q->list_count; i++) {
        mr_posed posed =
            pose_list(p, &p->asked->questions->lists[q->first_list + i], &p->goal->stops[i]);
        if (posed != MR_POSED)
            return posed;
    }
    return MR_POSED;
}

static mr_posed pose_required(poser *p)
{
    uint32_t event = mr_asked_event(p->asked, p->question->required);
    if (event == MR_NONE || event < p->window->start)
        return MR_POSED;
    if (!is_inside(p, event))
        return MR_POSED_IMPOSSIBLE;
    require(p, event);
    return MR_POSED;
}

/* ---- the last write ---- */

/* The last write of the variable that the first stop reads, before the window; MR_NONE: none. */
static uint32_t carried_write(const mr_window *w, uint32_t read)
{
    const mr_window_variable *variable = &w->variables[w->object[read]];
    const uint32_t *link = w->trace->link;
    uint32_t write = link[w->start + read];
    if (variable->writes_first < variable->writes_end)
        write = link[w->start + w->writes[variable->writes_first]];
    while (write != MR_NONE && write >= w->start)
        write = link[write];
    return write;
}

/* No write of the variable in the window: bars the first one of each thread. */
static bool bar_writes(poser *p, uint32_t variable)
{
    const mr_window *w = p->window;
    const mr_window_variable *v = &w->variables[variable];
    uint8_t *seen = mr_arena_zalloc(p->arena, w->thread_count, 1);
    for (uint32_t k = v->writes_first; seen && k < v->writes_end; k++) {
        uint32_t write = w->writes[k];
        if (!seen[w->thread[write]])
            p->barred[p->goal->barred_count++] = write;
        seen[w->thread[write]] = 1;
    }
    return seen != NULL;
}

static mr_posed ask_last(poser *p, mr_last_write last)
{
    mr_last_write *kept = mr_arena_alloc(p->arena, 1, sizeof *kept);
    if (!kept)
        return MR_POSED_NO_MEMORY;
    *kept = last;
    p->goal->last = kept;
    return MR_POSED;
}

static mr_posed pose_write(poser *p, uint32_t variable, uint32_t before)
{
    uint32_t write = mr_asked_event(p->asked, p->question->write);
    if (write < p->window->start) {
        if (write != before)
            return MR_POSED_IMPOSSIBLE;
        return bar_writes(p, variable) ? MR_POSED : MR_POSED_NO_MEMORY;
    }
    if (!is_inside(p, write))
        return MR_POSED_IMPOSSIBLE;
    require(p, write);
    return ask_last(p, (mr_last_write){.variable = variable, .write = write - p->window->start});
}

/* Does no write at all do? */
static bool initial_fits(const poser *p, uint32_t before)
{
    return before == MR_NONE && p->question->may_be_initial;
}

/* Does the write before the window do? */
static bool carried_fits(const poser *p, uint32_t before)
{
    const mr_question *q = p->question;
    const mr_trace *trace = p->asked->trace;
    return before != MR_NONE && mr_trace_written_value(trace, before) == q->value &&
           (q->write_place == MR_NONE || trace->location[before] == q->write_place);
}

static mr_posed pose_value(poser *p, uint32_t variable, uint32_t before)
{
    const mr_window *w = p->window;
    const mr_question *q = p->question;
    const mr_window_variable *v = &w->variables[variable];
    mr_last_write last = {.variable = variable,
                          .value = q->value,
                          .write = MR_NONE,
                          .place = q->write_place,
                          .carried = initial_fits(p, before) || carried_fits(p, before)};
    for (uint32_t k = v->writes_first; k < v->writes_end; k++)
        if (mr_last_write_fits(w, &last, w->writes[k]))
            return ask_last(p, last);
    if (!last.carried)
        return MR_POSED_IMPOSSIBLE;
    return bar_writes(p, variable) ? MR_POSED : MR_POSED_NO_MEMORY;
}

static mr_posed pose_last(poser *p)
{
    const mr_question *q = p->question;
    if (q->variable == MR_NONE)
        return MR_POSED;
    uint32_t read = p->goal->stops[0].events[0], variable = p->window->object[read];
    uint32_t before = carried_write(p->window, read);
    if (q->value)
        return pose_value(p, variable, before);
    if (q->write != MR_NONE)
        return pose_write(p, variable, before);
    if (!initial_fits(p, before))
        return MR_POSED_IMPOSSIBLE;
    return bar_writes(p, variable) ? MR_POSED : MR_POSED_NO_MEMORY;
}

/* ---- lives ---- */

/* What the events [start, end) can do to an object. */
typedef enum life_state {
    LIFE_OVER,    /* it is freed before */
    LIFE_ENDS,    /* it lives at the start, and can be freed */
    LIFE_GOES_ON, /* it lives at the start, and cannot be freed */
    LIFE_INSIDE,  /* it can begin and be freed */
    LIFE_BEGINS,  /* it can begin, and cannot be freed then */
    LIFE_LATER,   /* it does not begin */
} life_state;

static life_state find_life(const mr_asked_trace *asked, uint32_t object, uint32_t start,
                            uint32_t end)
{
    const mr_object_info *info = &asked->full->object_info[object];
    uint32_t alloc = mr_asked_event(asked, info->alloc);
    uint32_t release = mr_asked_event(asked, info->free);
    bool ends_inside = release != MR_NONE && release < end;
    if (release != MR_NONE && release < start)
        return LIFE_OVER;
    if (alloc == MR_NONE || alloc >= end)
        return LIFE_LATER;
    if (alloc < start)
        return ends_inside ? LIFE_ENDS : LIFE_GOES_ON;
    return ends_inside ? LIFE_INSIDE : LIFE_BEGINS;
}

bool mr_pose_lives_fit(const mr_asked_trace *asked, const mr_question *question, uint32_t start,
                       uint32_t end)
{
    const uint32_t *objects = asked->questions->objects.items + question->first_object;
    bool freed = !question->object_count;
    for (uint32_t i = 0; i < question->object_count; i++) {
        life_state life = find_life(asked, objects[i], start, end);
        if (life == LIFE_GOES_ON)
            return false;
        freed |= life == LIFE_OVER || life == LIFE_ENDS || life == LIFE_INSIDE;
    }
    return freed;
}

static mr_posed pose_lives(poser *p)
{
    const mr_question *q = p->question;
    const mr_window *w = p->window;
    bool freed = false;
    if (!mr_pose_lives_fit(p->asked, q, w->start, w->end))
        return MR_POSED_IMPOSSIBLE;
    mr_goal_life *lives = mr_arena_alloc(p->arena, q->object_count, sizeof *lives);
    if (!lives)
        return MR_POSED_NO_MEMORY;
    p->goal->lives = lives;
    for (uint32_t i = 0; i < q->object_count; i++) {
        uint32_t object = p->asked->questions->objects.items[q->first_object + i];
        const mr_object_info *info = &p->asked->full->object_info[object];
        uint32_t alloc = mr_asked_event(p->asked, info->alloc) - w->start;
        uint32_t end = mr_asked_event(p->asked, info->free);
        life_state life = find_life(p->asked, object, w->start, w->end);
        freed |= life == LIFE_OVER || life == LIFE_ENDS;
        if (life == LIFE_ENDS)
            require(p, end);
        else if (life == LIFE_INSIDE)
            lives[p->goal->life_count++] = (mr_goal_life){alloc, end - w->start};
        else if (life == LIFE_BEGINS)
            p->barred[p->goal->barred_count++] = alloc;
    }
    p->goal->one_freed = q->object_count && !freed;
    return MR_POSED;
}

mr_posed mr_pose(const mr_asked_trace *asked, const mr_question *question, const mr_window *window,
                 mr_goal *goal, mr_arena *arena)
{
    poser p = {
        .asked = asked,
        .question = question,
        .window = window,
        .goal = goal,
        .arena = arena,
        .required = mr_arena_alloc(arena, (size_t)question->object_count + 2, sizeof *p.required),
        .barred = mr_arena_alloc(arena, (size_t)question->object_count + window->thread_count,
                                 sizeof *p.barred)};
    if (!p.required || !p.barred)
        return MR_POSED_NO_MEMORY;
    *goal = (mr_goal){.required = p.required, .barred = p.barred};
    mr_posed posed = pose_stops(&p);
    if (posed == MR_POSED)
        posed = pose_required(&p);
    if (posed == MR_POSED)
        posed = pose_last(&p);
    return posed == MR_POSED ? pose_lives(&p) : posed;
}

/* ---- witnesses ---- */

/* The waits of a deadlock, the earliest first. */
static bool name_waits(const mr_window *w, const mr_decision *decision, uint32_t count,
                       mr_witness *witness)
{
    uint32_t least = 0;
    witness->waits = mr_calloc(count, sizeof *witness->waits);
    if (!witness->waits)
        return false;
    for (uint32_t i = 1; i < count; i++)
        least = decision->stops[i] < decision->stops[least] ? i : least;
    for (uint32_t i = 0; i < count; i++)
        witness->waits[i] = w->start + decision->stops[(least + i) % count];
    witness->wait_count = count;
    witness->first = witness->waits[0];
    witness->second = witness->waits[1];
    return true;
}

/* The last write of the variable that the stop reads. */
static uint32_t last_write(const mr_window *w, const mr_decision *decision)
{
    uint32_t read = decision->stops[0];
    for (uint32_t i = decision->event_count; i-- > 0;) {
        uint32_t event = decision->events[i];
        if (mr_op_writes(mr_window_op(w, event)) && w->object[event] == w->object[read])
            return w->start + event;
    }
    return carried_write(w, read);
}

/* Is `release`, of the asked trace, the free of an object of the question that may be named? */
static bool may_name(const mr_asked_trace *asked, const mr_question *question, uint32_t release)
{
    const uint32_t *objects = asked->questions->objects.items + question->first_object;
    uint32_t event = asked->events ? asked->events[release] : release;
    if (question->required != MR_NONE)
        return event == question->required;
    for (uint32_t i = 0; i < question->object_count; i++)
        if (asked->full->object_info[objects[i]].free == event)
            return true;
    return false;
}

/* The last free of one of the objects that has happened. */
static uint32_t find_freed(const mr_asked_trace *asked, const mr_question *question,
                           const mr_window *w, const mr_decision *decision)
{
    for (uint32_t k = decision->event_count; k-- > 0;)
        if (mr_window_op(w, decision->events[k]) == MR_OP_FREE &&
            may_name(asked, question, w->start + decision->events[k]))
            return w->start + decision->events[k];
    uint32_t last = MR_NONE;
    for (uint32_t i = 0; i < question->object_count; i++) {
        uint32_t object = asked->questions->objects.items[question->first_object + i];
        uint32_t end = mr_asked_event(asked, asked->full->object_info[object].free);
        if (end != MR_NONE && end < w->start && may_name(asked, question, end) &&
            (last == MR_NONE || end > last))
            last = end;
    }
    MR_ASSERT(last != MR_NONE); /* the goal asks for one */
    return last;
}

bool mr_pose_witness(const mr_asked_trace *asked, const mr_question *question, const mr_window *w,
                     const mr_decision *decision, mr_witness *witness)
{
    *witness = (mr_witness){.kind = question->kind,
                            .second = w->start + decision->stops[0],
                            .freed = MR_NONE,
                            .window_start = w->start,
                            .window_end = w->end,
                            .model = w->model,
                            .event_count = decision->event_count,
                            .events = mr_calloc(decision->event_count, sizeof(uint32_t))};
    if (!witness->events)
        return false;
    for (uint32_t i = 0; i < decision->event_count; i++)
        witness->events[i] = w->start + decision->events[i];
    if (question->kind == MR_WITNESS_DEADLOCK &&
        !name_waits(w, decision, question->list_count, witness)) {
        mr_witness_free(witness);
        return false;
    }
    if (question->kind == MR_WITNESS_USE_AFTER_FREE)
        witness->first = mr_asked_event(asked, question->required);
    if (question->variable != MR_NONE)
        witness->first = last_write(w, decision);
    if (question->object_count)
        witness->freed = find_freed(asked, question, w, decision);
    return true;
}

/* ---- where it is ---- */

/* Of a list of reads the one that follows most closely on a write that would do, as far as a few writes
 * back; false: there is none. */
static bool find_close_read(const mr_asked_trace *asked, const mr_question *question,
                            uint32_t *first, uint32_t *last)
{
    enum { MOST_READS = 4096, MOST_WRITES = 8 };
    const mr_question_list *list = &asked->questions->lists[question->first_list];
    const mr_trace *trace = asked->trace;
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < list->count && i < MOST_READS; i++) {
        uint32_t read = asked->listed[list->first + i], write = trace->link[read];
        for (int back = 0; back < MOST_WRITES && write != MR_NONE && read - write < best; back++) {
            if (mr_trace_written_value(trace, write) == question->value &&
                (question->write_place == MR_NONE ||
                 trace->location[write] == question->write_place)) {
                best = read - write;
                *first = write;
                *last = read;
            }
            write = trace->link[write];
        }
    }
    return best != UINT32_MAX;
}

void mr_question_span(const mr_asked_trace *asked, const mr_question *question, uint32_t *first,
                      uint32_t *last)
{
    enum { MOST_LISTS = 64 };
    const mr_questions *all = asked->questions;
    uint32_t required = mr_asked_event(asked, question->required);
    uint32_t at[MOST_LISTS] = {0}, lists = question->list_count, best = UINT32_MAX;
    MR_REQUIRE(lists <= MOST_LISTS);
    if (question->value && required == MR_NONE && find_close_read(asked, question, first, last))
        return;
    for (bool more = true; more;) { /* moves on where the earliest event is */
        uint32_t low = UINT32_MAX, high = 0, earliest = 0;
        for (uint32_t i = 0; i < lists; i++) {
            uint32_t event = asked->listed[all->lists[question->first_list + i].first + at[i]];
            earliest = event < low ? i : earliest;
            low = event < low ? event : low;
            high = event > high ? event : high;
        }
        if (required != MR_NONE) {
            low = required < low ? required : low;
            high = required > high ? required : high;
        }
        if (high - low < best) {
            best = high - low;
            *first = low;
            *last = high;
        }
        more = ++at[earliest] < all->lists[question->first_list + earliest].count;
    }
}
