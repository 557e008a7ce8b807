/* Groups of tasks of OpenMP, their reductions, and loops of tasks (gomp.h). */
#include "gomp_tasks.h"

#include "memory.h"
#include "steer.h"

static void begin_group(mr_gomp_task *task)
{
    mr_gomp_group *group = mr_openmp_take(sizeof *group);
    *group = (mr_gomp_group){.outer = task->group, .place = mr_openmp_places(sizeof(uint64_t))};
    task->group = group;
}

static void end_group(mr_thread *thread, mr_gomp_task *task, uintptr_t code)
{
    mr_gomp_group *group = task->group;
    while (group->open > 0) {
        if (!mr_gomp_run_task(thread, task->team, NULL, group, code) && group->open > 0) {
            mr_gomp_wait(thread, task->team, task->team, code);
        }
    }
    if (mr_steers()) {
        mr_steer_stop(thread, MR_STOP_CALL);
    }
    mr_gomp_units(task->team, MR_LOG_WAIT, MR_LOG_ROLE_BARRIER_IN, group->place, group->ended,
                  code);
    task->group = group->outer;
    mr_openmp_give(group, sizeof *group);
}

MR_EXPORT void GOMP_taskgroup_start(void);
void GOMP_taskgroup_start(void)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        MR_REAL(GOMP_taskgroup_start)();
        return;
    }
    begin_group(mr_gomp_now()->task);
    mr_leave(thread);
}

MR_EXPORT void GOMP_taskgroup_end(void);
void GOMP_taskgroup_end(void)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        MR_REAL(GOMP_taskgroup_end)();
        return;
    }
    mr_yield(thread);
    end_group(thread, mr_gomp_now()->task, MR_CALLER);
    mr_leave(thread);
}

/* ---- reductions of tasks ---- */

/*
 * What compilers pass for each construct with reductions: the number of variables, the bytes of each thread, their alignment (replaced by
 * the memory of all threads), an allocator, the next such list, 0 (replaced: not 0 in the first list), the end of the memory; then for each
 * variable its address, its offset and a word for the list.
 */
enum { R_COUNT, R_BYTES, R_MEMORY, R_ALLOCATOR, R_NEXT, R_FIRST, R_END, R_VARIABLES };
enum { V_ADDRESS, V_OFFSET, V_LIST, V_WORDS };

static void register_reductions(uintptr_t *data, uintptr_t code)
{
    const mr_gomp_self *self = mr_gomp_now();
    uintptr_t *list = data;
    for (;;) {
        uintptr_t all = list[R_BYTES] * self->team->size;
        list[R_MEMORY] = (uintptr_t)mr_gomp_take_block(all, code);
        list[R_END] = list[R_MEMORY] + all;
        list[R_FIRST] = list == data;
        for (uintptr_t i = 0; i < list[R_COUNT]; i++) {
            list[R_VARIABLES + V_WORDS * i + V_LIST] = (uintptr_t)list;
        }
        mr_memory_written(list, (R_VARIABLES + V_WORDS * list[R_COUNT]) * sizeof *list, code);
        if (list[R_NEXT] == 0) {
            break;
        }
        list = (uintptr_t *)list[R_NEXT];
    }
    list[R_NEXT] = (uintptr_t)self->task->group->reductions; /* of groups around it */
    self->task->group->reductions = data;
}

MR_EXPORT void GOMP_taskgroup_reduction_register(uintptr_t *data);
void GOMP_taskgroup_reduction_register(uintptr_t *data)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        MR_REAL(GOMP_taskgroup_reduction_register)(data);
        return;
    }
    register_reductions(data, MR_CALLER);
    mr_leave(thread);
}

MR_EXPORT void GOMP_taskgroup_reduction_unregister(uintptr_t *data);
void GOMP_taskgroup_reduction_unregister(uintptr_t *data)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        MR_REAL(GOMP_taskgroup_reduction_unregister)(data);
        return;
    }
    uintptr_t *list = data;
    do {
        mr_gomp_give_block((void *)list[R_MEMORY], list[R_END] - list[R_MEMORY], MR_CALLER);
        list = (uintptr_t *)list[R_NEXT];
    } while (list != NULL && !list[R_FIRST]);
    mr_leave(thread);
}

/* The list of a variable, by its address or an address in the memory of a thread; its offset, too. */
static uintptr_t *find_reduction(uintptr_t *list, uintptr_t address, uintptr_t *offset)
{
    for (; list != NULL; list = (uintptr_t *)list[R_NEXT]) {
        for (uintptr_t i = 0; i < list[R_COUNT]; i++) {
            const uintptr_t *variable = list + R_VARIABLES + V_WORDS * i;
            if (variable[V_ADDRESS] == address) {
                *offset = variable[V_OFFSET];
                return list;
            }
        }
        if (address >= list[R_MEMORY] && address < list[R_END]) {
            *offset = (address - list[R_MEMORY]) % list[R_BYTES];
            return list;
        }
    }
    return NULL;
}

MR_EXPORT void GOMP_task_reduction_remap(size_t count, size_t originals, void **pointers);
void GOMP_task_reduction_remap(size_t count, size_t originals, void **pointers)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        MR_REAL(GOMP_task_reduction_remap)(count, originals, pointers);
        return;
    }
    const mr_gomp_self *self = mr_gomp_now();
    const mr_gomp_group *group = self->task->group;
    while (group != NULL && group->reductions == NULL) {
        group = group->outer;
    }
    for (size_t i = 0; group != NULL && i < count; i++) {
        uintptr_t offset = 0;
        uintptr_t *list = find_reduction(group->reductions, (uintptr_t)pointers[i], &offset);
        if (list == NULL) {
            continue;
        }
        pointers[i] = (void *)(list[R_MEMORY] + self->number * list[R_BYTES] + offset);
        for (uintptr_t k = 0; i < originals && k < list[R_COUNT]; k++) {
            const uintptr_t *variable = list + R_VARIABLES + V_WORDS * k;
            if (variable[V_OFFSET] == offset) {
                pointers[count + i] = (void *)variable[V_ADDRESS];
            }
        }
    }
    mr_memory_written(pointers, (count + originals) * sizeof *pointers, MR_CALLER);
    mr_leave(thread);
}

/* ---- loops of tasks ---- */

typedef struct span {
    uint64_t start, end, step, count; /* as in the program, and how many iterations */
} span;

/* How many iterations each task has: the first `more` of `tasks` have one more than the others, or the last one has the rest. */
static uint64_t tasks_of(const span *all, unsigned flags, uint64_t asked, uint64_t threads,
                         uint64_t *each, uint64_t *more)
{
    uint64_t tasks = asked;
    bool is_size = (flags & MR_GOMP_GRAINSIZE) != 0;
    if (is_size && (flags & MR_GOMP_STRICT) != 0) {
        *each = asked;
        *more = 0;
        return all->count / asked + (all->count % asked != 0);
    }
    if (is_size) {
        tasks = all->count / asked;
        tasks = tasks == 0 ? 1 : tasks;
    }
    tasks = tasks == 0 ? threads : tasks;
    tasks = tasks > all->count ? all->count : tasks;
    tasks = tasks == 0 ? 1 : tasks;
    *each = all->count / tasks;
    *more = all->count % tasks;
    return tasks;
}

static void create_loop(mr_thread *thread, const mr_gomp_passed *what, unsigned flags,
                        uint64_t asked, const span *all, uintptr_t code)
{
    mr_gomp_task *current = mr_gomp_now()->task;
    uint64_t each, more, at = all->start, left = all->count;
    uint64_t tasks = tasks_of(all, flags, asked, current->team->size, &each, &more);
    bool has_group = (flags & MR_GOMP_NO_GROUP) == 0;
    bool at_once =
        (flags & MR_GOMP_IS_IF) == 0 || mr_gomp_is_run_now(thread, (unsigned)tasks, code);
    if (has_group) {
        begin_group(current);
        if ((flags & MR_GOMP_REDUCES) != 0) {
            register_reductions(((uintptr_t **)what->data)[2], code);
        }
    }
    for (uint64_t i = 0; i < tasks; i++) {
        uint64_t mine = each + (i < more);
        mine = mine > left ? left : mine;
        uint64_t bounds[2] = {at, at + mine * all->step};
        if (i + 1 == tasks && left == mine) {
            bounds[1] = all->end;
        }
        at = bounds[1];
        left -= mine;
        if (at_once) {
            mr_gomp_run_now(thread, what, NULL, bounds, (flags & MR_GOMP_FINAL) != 0, code);
        } else {
            mr_gomp_create(thread, what, NULL, bounds, (flags & MR_GOMP_FINAL) != 0, code);
            mr_yield(thread);
        }
    }
    if (has_group) {
        end_group(thread, current, code);
    }
}

/* No iteration: nobody is to be told of reductions. */
static void no_loop(const mr_gomp_passed *what, unsigned flags)
{
    if ((flags & (MR_GOMP_NO_GROUP | MR_GOMP_REDUCES)) == MR_GOMP_REDUCES) {
        ((uintptr_t **)what->data)[2][R_MEMORY] = 0;
    }
}

MR_EXPORT void GOMP_taskloop(mr_gomp_function function, void *data, void (*copy)(void *, void *),
                             long bytes, long alignment, unsigned flags, unsigned long tasks,
                             int priority, long start, long end, long step);
void GOMP_taskloop(mr_gomp_function function, void *data, void (*copy)(void *, void *), long bytes,
                   long alignment, unsigned flags, unsigned long tasks, int priority, long start,
                   long end, long step)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        MR_REAL(GOMP_taskloop)
        (function, data, copy, bytes, alignment, flags, tasks, priority, start, end, step);
        return;
    }
    mr_gomp_passed what = {function, data, copy, (size_t)bytes, (size_t)alignment, NULL};
    bool is_empty = step > 0 ? start >= end : start <= end;
    span all = {(uint64_t)start, (uint64_t)end, (uint64_t)step, 0};
    if (!is_empty) {
        all.count = (uint64_t)((end - start + (step > 0 ? step - 1 : step + 1)) / step);
        create_loop(thread, &what, flags, tasks, &all, MR_CALLER);
    } else {
        no_loop(&what, flags);
    }
    mr_leave(thread);
}

MR_EXPORT void GOMP_taskloop_ull(mr_gomp_function function, void *data,
                                 void (*copy)(void *, void *), long bytes, long alignment,
                                 unsigned flags, unsigned long tasks, int priority, uint64_t start,
                                 uint64_t end, uint64_t step);
void GOMP_taskloop_ull(mr_gomp_function function, void *data, void (*copy)(void *, void *),
                       long bytes, long alignment, unsigned flags, unsigned long tasks,
                       int priority, uint64_t start, uint64_t end, uint64_t step)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        MR_REAL(GOMP_taskloop_ull)
        (function, data, copy, bytes, alignment, flags, tasks, priority, start, end, step);
        return;
    }
    mr_gomp_passed what = {function, data, copy, (size_t)bytes, (size_t)alignment, NULL};
    bool is_up = (flags & MR_GOMP_IS_UP) != 0, is_empty = is_up ? start >= end : start <= end;
    span all = {start, end, step, 0};
    if (!is_empty) {
        all.count = is_up ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
        create_loop(thread, &what, flags, tasks, &all, MR_CALLER);
    } else {
        no_loop(&what, flags);
    }
    mr_leave(thread);
}
