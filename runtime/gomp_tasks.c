/* The tasks of OpenMP (gomp.h). */
#include "gomp_tasks.h"

#include "memory.h"
#include "steer.h"
#include "writer.h"

#include <stddef.h>
#include <string.h>

/* ---- tasks ---- */

const char *mr_gomp_place_of(mr_gomp_task *task)
{
    if (task->place == NULL) {
        task->place = mr_openmp_places(sizeof(uint64_t));
    }
    return task->place;
}

void mr_gomp_let_go(mr_gomp_task *task)
{
    while (task != NULL && task->order.users > 0 && --task->order.users == 0) {
        mr_gomp_task *parent = task->parent;
        mr_openmp_give(task, sizeof *task);
        task = parent;
    }
}

void mr_gomp_task_order(const mr_gomp_team *team, mr_log_kind kind, mr_log_role role,
                        const char *place, uintptr_t code)
{
    if (team->size > 1) {
        mr_write_object(kind, role, place, code, 0, 0);
    }
}

/* It is made, or taken. */
static void log_made(mr_gomp_task *task, mr_log_kind kind, uintptr_t code)
{
    mr_gomp_task_order(task->team, kind, MR_LOG_ROLE_TASK, mr_gomp_place_of(task) + MR_GOMP_CREATED,
                       code);
}

/* ---- the queue ---- */

static void step_queue(mr_gomp_team *team, uintptr_t code)
{
    mr_gomp_update(team, team->queue, team->steps, team->steps + 1, code);
    team->steps++;
}

static void enqueue(mr_gomp_team *team, mr_gomp_task *task)
{
    task->next = NULL;
    if (team->last != NULL) {
        team->last->next = task;
    } else {
        team->first = task;
    }
    team->last = task;
    mr_wake_key(team);
}

static bool is_in(const mr_gomp_group *inner, const mr_gomp_group *group)
{
    while (inner != NULL && inner != group) {
        inner = inner->outer;
    }
    return inner == group;
}

/* Where the queue leads to the first one that fits; NULL: none does. */
static mr_gomp_task **find(mr_gomp_team *team, const mr_gomp_task *parent,
                           const mr_gomp_group *group)
{
    for (mr_gomp_task **at = &team->first; *at != NULL; at = &(*at)->next) {
        if ((parent == NULL || (*at)->parent == parent) &&
            (group == NULL || is_in((*at)->group, group))) {
            return at;
        }
    }
    return NULL;
}

/* The same of the task that the schedule of a replay names; when it is not there yet, others run first. False: it does not say. */
static bool find_scheduled(mr_thread *thread, mr_gomp_team *team, mr_gomp_task ***found)
{
    mr_made made;
    unsigned comes_after = 0;
    mr_takes takes = MR_TAKES_ANY;
    *found = NULL;
    while (mr_steers() &&
           (takes = mr_steer_takes(thread, true, &made, &comes_after)) == MR_TAKES_THIS) {
        for (mr_gomp_task **at = &team->first; *at != NULL; at = &(*at)->next) {
            if (mr_is_made((*at)->made, made)) {
                *found = at;
                return true;
            }
        }
        mr_steer_stop(thread, MR_STOP_CALL);
    }
    return mr_steers() && takes != MR_TAKES_ANY;
}

bool mr_gomp_takes_one(const mr_thread *thread)
{
    mr_made made;
    unsigned comes_after;
    return mr_steers() && mr_steer_takes(thread, true, &made, &comes_after) == MR_TAKES_THIS;
}

/* Where the queue leads to the next task for the thread. */
static mr_gomp_task **find_next(mr_thread *thread, mr_gomp_team *team, const mr_gomp_task *parent,
                                const mr_gomp_group *group)
{
    mr_gomp_task **at;
    return find_scheduled(thread, team, &at) ? at : find(team, parent, group);
}

static mr_gomp_task *dequeue(mr_gomp_team *team, mr_gomp_task **at)
{
    mr_gomp_task *task = *at;
    *at = task->next;
    if (team->last == task) {
        team->last = team->first == NULL
                         ? NULL
                         : (mr_gomp_task *)(void *)((char *)at - offsetof(mr_gomp_task, next));
    }
    return task;
}

/* ---- running ---- */

static void call(mr_thread *thread, mr_gomp_task *task)
{
    mr_gomp_self *self = mr_gomp_now();
    mr_gomp_task *before = self->task;
    self->task = task;
    mr_leave(thread);
    task->function(task->data);
    mr_enter_at(task->code);
    self->task = before;
    mr_gomp_drop_table(task);
}

void *mr_gomp_take_block(size_t bytes, uintptr_t code)
{
    void *block = mr_openmp_take(bytes);
    mr_write_object(MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, block, code, MR_LOG_GIVEN_PLAIN, bytes);
    return block;
}

void mr_gomp_give_block(void *block, size_t bytes, uintptr_t code)
{
    mr_write_object(MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, block, code, MR_LOG_TAKEN_GONE, bytes);
    mr_openmp_give(block, bytes);
}

static void tell_end(mr_gomp_task *task, uintptr_t code)
{
    mr_gomp_team *team = task->team;
    if (task->bytes != 0) {
        mr_gomp_give_block(task->data, task->bytes, code);
    }
    if (task->order.is_depended_on) {
        mr_gomp_task_order(team, MR_LOG_BEFORE, MR_LOG_ROLE_TASK_END, task->order.end, code);
    }
    if (!task->parent->order.has_ended) {
        mr_gomp_units(team, MR_LOG_POST, MR_LOG_ROLE_BARRIER_IN,
                      mr_gomp_place_of(task->parent) + MR_GOMP_CHILDREN, 1, code);
        task->parent->ended++;
    }
    if (task->group != NULL) {
        mr_gomp_units(team, MR_LOG_POST, MR_LOG_ROLE_BARRIER_IN, task->group->place, 1, code);
        task->group->ended++;
        task->group->open--;
    }
    mr_gomp_units(team, MR_LOG_POST, MR_LOG_ROLE_BARRIER_IN, team->place, 1, code);
    team->posted++;
    team->open--;
    task->parent->open--;
    task->order.has_ended = true;
    mr_wake_key(team);
}

static void finish(mr_thread *thread, mr_gomp_task *task, uintptr_t code)
{
    mr_gomp_team *team = task->team;
    /* Whether it ends before others are created is to stay as it was. */
    if (task->order.is_depended_on) {
        mr_gomp_before_update(thread, code);
        step_queue(team, code);
    }
    tell_end(task, code);
    /* The tasks that depend on it are open, too, since they were created: the team is not done before they are. */
    mr_gomp_task *next;
    while ((next = (mr_gomp_task *)mr_dependent_ready(&task->order)) != NULL) {
        if (!next->is_waited_for) {
            mr_gomp_before_update(thread, code);
            step_queue(team, code);
            enqueue(team, next);
        }
    }
    mr_gomp_let_go(task);
}

/* Of a detached task: the second of its return and the event ends it, after the first. */
static bool comes_second(mr_gomp_task *task, bool is_second, int mine, int first, uintptr_t code)
{
    if (task->is_detached) {
        mr_gomp_order(task->team, is_second ? MR_LOG_AFTER : MR_LOG_BEFORE,
                      mr_gomp_place_of(task) + (is_second ? first : mine), code);
    }
    return is_second || !task->is_detached;
}

bool mr_gomp_run_task(mr_thread *thread, mr_gomp_team *team, const mr_gomp_task *parent,
                      const mr_gomp_group *group, uintptr_t code)
{
    if (find_next(thread, team, parent, group) == NULL) {
        return false;
    }
    mr_gomp_before_update(thread, code);
    mr_gomp_task **at = find_next(thread, team, parent, group);
    if (at != NULL) {
        mr_gomp_task *task = dequeue(team, at);
        step_queue(team, code);
        log_made(task, MR_LOG_AFTER, task->code);
        mr_gomp_come_after(task, task->code);
        call(thread, task);
        if (comes_second(task, task->is_fulfilled, MR_GOMP_RETURNED, MR_GOMP_FULFILLED,
                         task->code)) {
            finish(thread, task, task->code);
        } else {
            task->has_returned = true;
        }
    }
    return true;
}

void mr_gomp_fulfill(mr_thread *thread, void *event, uintptr_t code)
{
    mr_gomp_task *task = event;
    mr_yield(thread);
    if (comes_second(task, task->has_returned, MR_GOMP_FULFILLED, MR_GOMP_RETURNED, code)) {
        finish(thread, task, code);
    } else {
        task->is_fulfilled = true;
        mr_wake_key(task->team);
    }
}

/* ---- creation ---- */

static void copy_data(mr_thread *thread, mr_gomp_task *task, const mr_gomp_passed *from)
{
    task->bytes = from->bytes > from->alignment
                      ? from->bytes
                      : from->alignment; /* blocks are as aligned as they are large */
    task->data = mr_gomp_take_block(task->bytes, task->code);
    void *at = task->data;
    if (from->copy != NULL) {
        mr_leave(thread);
        from->copy(at, from->data);
        mr_enter_at(task->code);
    } else if (from->bytes > 0) {
        MR_REAL(memcpy)(at, from->data, from->bytes);
        mr_memory_written(at, from->bytes, task->code);
    }
}

static void set_bounds(mr_gomp_task *task, const uint64_t *bounds)
{
    enum { BYTES = 16 };
    MR_REAL(memcpy)(task->data, bounds, BYTES);
    mr_memory_written(task->data, BYTES, task->code);
}

/* The handle of a task's event is its address; the program has it twice. */
static void set_event(mr_gomp_task *task, const mr_gomp_passed *what, uintptr_t code)
{
    task->is_detached = what->event != NULL;
    if (what->event != NULL) {
        *what->event = task;
        mr_memory_written(what->event, sizeof task, code);
        if (what->data != NULL) {
            *(void **)what->data = task;
            mr_memory_written(what->data, sizeof task, code);
        }
    }
}

/* By the calling thread, now. */
void mr_gomp_run_now(mr_thread *thread, const mr_gomp_passed *what, void **depends,
                     const uint64_t *bounds, bool is_final, uintptr_t code)
{
    mr_gomp_task *current = mr_gomp_now()->task;
    mr_gomp_task *task = mr_openmp_take(sizeof *task);
    *task = (mr_gomp_task){.parent = current,
                           .team = current->team,
                           .group = current->group,
                           .function = what->function,
                           .data = what->data,
                           .threads = current->threads,
                           .order = {.users = 1},
                           .code = code,
                           .is_final = is_final || current->is_final};
    current->order.users += current->order.users > 0;
    set_event(task, what, code);
    if (depends != NULL && current->team->size > 1) {
        mr_gomp_wait_before(thread, task, depends, code);
    }
    if (what->copy != NULL || bounds != NULL) {
        copy_data(thread, task, what);
    }
    if (bounds != NULL) {
        set_bounds(task, bounds);
    }
    call(thread, task);
    while (task->is_detached && !task->is_fulfilled) {
        mr_gomp_wait(thread, task->team, task->team, code);
    }
    if (task->is_detached) {
        mr_gomp_order(task->team, MR_LOG_AFTER, mr_gomp_place_of(task) + MR_GOMP_FULFILLED, code);
    }
    if (task->bytes != 0) {
        mr_gomp_give_block(task->data, task->bytes, code);
    }
    task->order.has_ended = true;
    mr_gomp_let_go(task);
}

void mr_gomp_create(mr_thread *thread, const mr_gomp_passed *what, void **depends,
                    const uint64_t *bounds, bool is_final, uintptr_t code)
{
    mr_gomp_task *current = mr_gomp_now()->task;
    mr_gomp_team *team = current->team;
    mr_gomp_task *task = mr_openmp_take(sizeof *task);
    *task = (mr_gomp_task){.parent = current,
                           .team = team,
                           .group = current->group,
                           .function = what->function,
                           .threads = current->threads,
                           .order = {.users = 1},
                           .code = code,
                           .is_final = is_final};
    current->order.users += current->order.users > 0;
    mr_gomp_place_of(current);
    set_event(task, what, code);
    copy_data(thread, task, what);
    if (bounds != NULL) {
        set_bounds(task, bounds);
    }
    mr_gomp_before_update(thread, code);
    step_queue(
        team,
        code); /* first: what it depends on is decided here, and no schedule can part the two */
    current->open++;
    team->open++;
    if (task->group != NULL) {
        task->group->open++;
    }
    if (mr_steers()) {
        task->made = mr_steer_made(thread);
    }
    log_made(task, MR_LOG_BEFORE, code);
    if (depends != NULL) {
        task->order.end = mr_gomp_place_of(task) + MR_GOMP_ENDED;
        mr_gomp_depend(task, depends, true);
    }
    if (task->order.waits_for == 0) {
        enqueue(team, task);
    }
}

bool mr_gomp_is_run_now(mr_thread *thread, unsigned count, uintptr_t code)
{
    enum { MOST = 64 };
    mr_gomp_team *team = mr_gomp_now()->team;
    if (team->size == 1 || mr_gomp_now()->task->is_final) {
        return true;
    }
    mr_gomp_before_update(thread, code);
    bool is_full = team->open + count > MOST * team->size;
    int expected = mr_steers() ? mr_steer_expects(thread, MR_LOG_ATOMIC_UPDATE) : -1;
    is_full = expected < 0 ? is_full : expected != 0; /* as it was recorded */
    if (is_full) {
        step_queue(team, code);
    }
    return is_full;
}

MR_EXPORT void GOMP_task(mr_gomp_function function, void *data, void (*copy)(void *, void *),
                         long bytes, long alignment, bool is_if, unsigned flags, void **depends,
                         int priority, void *event);
void GOMP_task(mr_gomp_function function, void *data, void (*copy)(void *, void *), long bytes,
               long alignment, bool is_if, unsigned flags, void **depends, int priority,
               void *event)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        MR_REAL(GOMP_task)
        (function, data, copy, bytes, alignment, is_if, flags, depends, priority, event);
        return;
    }
    mr_gomp_passed what = {function,
                           data,
                           copy,
                           (size_t)bytes,
                           (size_t)alignment,
                           (flags & MR_GOMP_DETACHES) != 0 ? event : NULL};
    depends = (flags & MR_GOMP_DEPENDS) != 0 ? depends : NULL;
    mr_yield(thread);
    if (!is_if || mr_gomp_is_run_now(thread, 0, MR_CALLER)) {
        mr_gomp_run_now(thread, &what, depends, NULL, (flags & MR_GOMP_FINAL) != 0, MR_CALLER);
    } else {
        mr_gomp_create(thread, &what, depends, NULL, (flags & MR_GOMP_FINAL) != 0, MR_CALLER);
        mr_yield(thread);
    }
    mr_leave(thread);
}

/* ---- waits ---- */

static void wait_for_children(mr_thread *thread, mr_gomp_task *task, uintptr_t code)
{
    mr_gomp_team *team = task->team;
    while (task->open > 0) {
        if (!mr_gomp_run_task(thread, team, task, NULL, code) && task->open > 0) {
            mr_gomp_wait(thread, team, team, code);
        }
    }
    if (mr_steers()) {
        mr_steer_stop(thread, MR_STOP_CALL);
    }
    if (task->ended > 0) {
        mr_gomp_units(team, MR_LOG_WAIT, MR_LOG_ROLE_BARRIER_IN,
                      mr_gomp_place_of(task) + MR_GOMP_CHILDREN, task->ended, code);
        task->ended = 0;
    }
    mr_gomp_drop_table(task);
}

MR_EXPORT void GOMP_taskwait(void);
void GOMP_taskwait(void)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        MR_REAL(GOMP_taskwait)();
        return;
    }
    mr_yield(thread);
    wait_for_children(thread, mr_gomp_now()->task, MR_CALLER);
    mr_leave(thread);
}

MR_EXPORT void GOMP_taskwait_depend(void **depends);
void GOMP_taskwait_depend(void **depends)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        MR_REAL(GOMP_taskwait_depend)(depends);
        return;
    }
    mr_gomp_task *current = mr_gomp_now()->task;
    mr_gomp_task task = {.parent = current, .team = current->team};
    mr_yield(thread);
    if (current->team->size > 1) {
        mr_gomp_wait_before(thread, &task, depends, MR_CALLER);
    }
    mr_leave(thread);
}

MR_EXPORT void GOMP_taskyield(void);
void GOMP_taskyield(void)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        MR_REAL(GOMP_taskyield)();
        return;
    }
    mr_yield_to_others(thread);
    mr_leave(thread);
}
