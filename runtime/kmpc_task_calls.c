/*
 * The functions for tasks that compiled code calls.
 */
#include "kmpc_tasks.h"

#include "gomp.h"
#include "memory.h"

typedef int (*routine)(int number, void *body);

static void *allocate(unsigned flags, size_t body_bytes, size_t shared_bytes, routine function,
                      uintptr_t code)
{
    enum { ALIGNMENT = 8 };
    size_t rounded = (body_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t bytes = MR_KMPC_BLOCK_HEAD + rounded + shared_bytes;
    char *block = mr_kmpc_allocate(bytes, code);
    mr_thread *thread = block != NULL ? mr_enter() : NULL;
    if (thread == NULL) {
        return NULL;
    }
    mr_kmpc_body *body = (mr_kmpc_body *)(void *)(block + MR_KMPC_BLOCK_HEAD);
    *body = (mr_kmpc_body){.routine = function};
    body->shared = shared_bytes > 0 ? (char *)body + rounded : NULL;
    mr_memory_written(body, sizeof *body, code);
    *mr_kmpc_task_of(body) =
        mr_kmpc_task_make(mr_kmpc_self(thread), body, flags, body_bytes, bytes);
    mr_leave(thread);
    return body;
}

MR_EXPORT void *__kmpc_omp_task_alloc(void *place, int number, int flags, size_t body_bytes,
                                      size_t shared_bytes, routine function);
void *__kmpc_omp_task_alloc(void *place, int number, int flags, size_t body_bytes,
                            size_t shared_bytes, routine function)
{
    return mr_kmpc_is_ours()
               ? allocate((unsigned)flags, body_bytes, shared_bytes, function, MR_CALLER)
               : MR_REAL(__kmpc_omp_task_alloc)(place, MR_THEIRS(number), flags, body_bytes,
                                                shared_bytes, function);
}

MR_EXPORT void *__kmpc_omp_target_task_alloc(void *place, int number, int flags, size_t body_bytes,
                                             size_t shared_bytes, routine function, int64_t device);
void *__kmpc_omp_target_task_alloc(void *place, int number, int flags, size_t body_bytes,
                                   size_t shared_bytes, routine function, int64_t device)
{
    return mr_kmpc_is_ours()
               ? allocate((unsigned)flags, body_bytes, shared_bytes, function, MR_CALLER)
               : MR_REAL(__kmpc_omp_target_task_alloc)(place, MR_THEIRS(number), flags, body_bytes,
                                                       shared_bytes, function, device);
}

MR_EXPORT int __kmpc_omp_reg_task_with_affinity(void *place, int number, void *body, int count,
                                                void *all);
int __kmpc_omp_reg_task_with_affinity(void *place, int number, void *body, int count, void *all)
{
    return mr_kmpc_is_ours() ? 0
                             : MR_REAL(__kmpc_omp_reg_task_with_affinity)(place, MR_THEIRS(number),
                                                                          body, count, all);
}

static int spawn(void *body, int count, const mr_kmpc_dependence *all, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_kmpc_thread *self = mr_kmpc_self(thread);
        mr_kmpc_task *task = *mr_kmpc_task_of(body);
        if (task == self->task) {
            task->goes_on = true;
        } else {
            mr_kmpc_task_depends(self->task, task, count, all, false);
            mr_kmpc_task_spawn(thread, self, task, false, code);
        }
        mr_leave(thread);
    }
    return 0;
}

MR_EXPORT int __kmpc_omp_task(void *place, int number, void *body);
int __kmpc_omp_task(void *place, int number, void *body)
{
    return mr_kmpc_is_ours() ? spawn(body, 0, NULL, MR_CALLER)
                             : MR_REAL(__kmpc_omp_task)(place, MR_THEIRS(number), body);
}

MR_EXPORT int __kmpc_omp_task_with_deps(void *place, int number, void *body, int count,
                                        mr_kmpc_dependence *all, int alias_count, void *aliases);
int __kmpc_omp_task_with_deps(void *place, int number, void *body, int count,
                              mr_kmpc_dependence *all, int alias_count, void *aliases)
{
    return mr_kmpc_is_ours() ? spawn(body, count, all, MR_CALLER)
                             : MR_REAL(__kmpc_omp_task_with_deps)(place, MR_THEIRS(number), body,
                                                                  count, all, alias_count, aliases);
}

MR_EXPORT void __kmpc_omp_wait_deps(void *place, int number, int count, mr_kmpc_dependence *all,
                                    int alias_count, void *aliases);
void __kmpc_omp_wait_deps(void *place, int number, int count, mr_kmpc_dependence *all,
                          int alias_count, void *aliases)
{
    mr_thread *thread;
    if (!mr_kmpc_is_ours()) {
        MR_REAL(__kmpc_omp_wait_deps)(place, MR_THEIRS(number), count, all, alias_count, aliases);
    } else if ((thread = mr_enter()) != NULL) {
        mr_kmpc_thread *self = mr_kmpc_self(thread);
        mr_kmpc_task *waits = mr_kmpc_task_make(self, &waits, 0, 0, 0);
        mr_kmpc_task_depends(self->task, waits, count, all, true);
        mr_kmpc_wait_for_ends(thread, self, waits, MR_CALLER);
        mr_kmpc_task_forget(waits);
        mr_leave(thread);
    }
}

/* ---- a task that is done at once, in the code that makes it ---- */

MR_EXPORT void __kmpc_omp_task_begin_if0(void *place, int number, void *body);
void __kmpc_omp_task_begin_if0(void *place, int number, void *body)
{
    mr_thread *thread;
    if (!mr_kmpc_is_ours()) {
        MR_REAL(__kmpc_omp_task_begin_if0)(place, MR_THEIRS(number), body);
    } else if ((thread = mr_enter()) != NULL) {
        mr_kmpc_thread *self = mr_kmpc_self(thread);
        mr_kmpc_task *task = *mr_kmpc_task_of(body);
        mr_kmpc_count_one(&self->task->children);
        if (task->group != NULL) {
            mr_kmpc_count_one(&task->group->tasks);
        }
        self->task = task;
        mr_leave(thread);
    }
}

MR_EXPORT void __kmpc_omp_task_complete_if0(void *place, int number, void *body);
void __kmpc_omp_task_complete_if0(void *place, int number, void *body)
{
    mr_thread *thread;
    if (!mr_kmpc_is_ours()) {
        MR_REAL(__kmpc_omp_task_complete_if0)(place, MR_THEIRS(number), body);
        return;
    }
    mr_kmpc_task *task = *mr_kmpc_task_of(body);
    if (!task->goes_on) {
        mr_kmpc_free(mr_kmpc_block_of(body), MR_CALLER);
    }
    if ((thread = mr_enter()) != NULL) {
        mr_kmpc_thread *self = mr_kmpc_self(thread);
        self->task = task->parent;
        self->settings = task->settings;
        if (task->goes_on) {
            mr_kmpc_task_run(thread, self, task, MR_CALLER);
        } else {
            mr_kmpc_task_complete(self, task, MR_CALLER);
        }
        mr_leave(thread);
    }
}

/* ---- waits ---- */

static int wait_for_children(uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_kmpc_thread *self = mr_kmpc_self(thread);
        mr_kmpc_wait_for_all(thread, self, &self->task->children, code);
        mr_kmpc_forget_places(self->task);
        mr_leave(thread);
    }
    return 0;
}

MR_EXPORT int __kmpc_omp_taskwait(void *place, int number);
int __kmpc_omp_taskwait(void *place, int number)
{
    return mr_kmpc_is_ours() ? wait_for_children(MR_CALLER)
                             : MR_REAL(__kmpc_omp_taskwait)(place, MR_THEIRS(number));
}

MR_EXPORT int __kmpc_omp_taskyield(void *place, int number, int end);
int __kmpc_omp_taskyield(void *place, int number, int end)
{
    mr_thread *thread;
    if (!mr_kmpc_is_ours()) {
        return MR_REAL(__kmpc_omp_taskyield)(place, MR_THEIRS(number), end);
    }
    if ((thread = mr_enter()) != NULL) {
        mr_yield_to_others(thread);
        mr_kmpc_do_task(thread, mr_kmpc_self(thread), false, MR_CALLER);
        mr_leave(thread);
    }
    return 0;
}

/* ---- groups, with reductions ---- */

typedef struct item { /* as compiled code has it */
    char *shared;
    void *original;
    size_t bytes;
    void (*begin)(void *own, void *original);
    void (*end)(void *own);
    void (*add)(void *to, void *from);
    unsigned flags;
} item;

/* Each thread has its own copy of each item. */
typedef struct mr_kmpc_reduction {
    int count, size;
    item *items;
    char **own; /* of item i and thread t: own[i * size + t] */
} reduction;

static mr_kmpc_group *begin_group(mr_kmpc_thread *self)
{
    mr_kmpc_group *group = mr_openmp_take(sizeof *group);
    *group = (mr_kmpc_group){.around = self->task->open};
    self->task->open = group;
    return group;
}

static void *begin_reduction(mr_kmpc_thread *self, mr_kmpc_group *group, int count, const item *all)
{
    reduction *made = mr_openmp_take(sizeof *made);
    size_t copies = (size_t)count * (size_t)self->member->team->size;
    *made = (reduction){.count = count, .size = self->member->team->size};
    made->items = mr_openmp_take((size_t)count * sizeof *made->items);
    made->own = mr_openmp_take(copies * sizeof *made->own);
    for (int i = 0; i < count; i++) {
        made->items[i] = all[i];
    }
    group->reduction = made;
    return group;
}

/* The thread is not busy, and all tasks of the group have ended. */
static void end_reduction(reduction *made, uintptr_t code)
{
    for (int i = 0; i < made->count; i++) {
        const item *one = &made->items[i];
        for (int t = 0; t < made->size; t++) {
            char *own = made->own[i * made->size + t];
            if (own != NULL) {
                one->add(one->shared, own);
                if (one->end != NULL) {
                    one->end(own);
                }
                mr_kmpc_free(own, code);
            }
        }
    }
}

static void end_group(uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return;
    }
    mr_kmpc_thread *self = mr_kmpc_self(thread);
    mr_kmpc_group *group = self->task->open;
    if (group != NULL) {
        mr_kmpc_wait_for_all(thread, self, &group->tasks, code);
        reduction *made = group->reduction;
        if (made != NULL) {
            mr_leave(thread);
            end_reduction(made, code);
            thread = mr_enter();
        }
        self->task->open = group->around;
        if (thread != NULL && made != NULL) {
            mr_openmp_give(made->own, (size_t)(made->count * made->size) * sizeof *made->own);
            mr_openmp_give(made->items, (size_t)made->count * sizeof *made->items);
            mr_openmp_give(made, sizeof *made);
        }
        if (thread != NULL) {
            mr_openmp_give(group, sizeof *group);
        }
    }
    if (thread != NULL) {
        mr_leave(thread);
    }
}

MR_EXPORT void __kmpc_taskgroup(void *place, int number);
void __kmpc_taskgroup(void *place, int number)
{
    mr_thread *thread;
    if (!mr_kmpc_is_ours()) {
        MR_REAL(__kmpc_taskgroup)(place, MR_THEIRS(number));
    } else if ((thread = mr_enter()) != NULL) {
        begin_group(mr_kmpc_self(thread));
        mr_leave(thread);
    }
}

MR_EXPORT void __kmpc_end_taskgroup(void *place, int number);
void __kmpc_end_taskgroup(void *place, int number)
{
    if (mr_kmpc_is_ours()) {
        end_group(MR_CALLER);
    } else {
        MR_REAL(__kmpc_end_taskgroup)(place, MR_THEIRS(number));
    }
}

MR_EXPORT void *__kmpc_taskred_init(int number, int count, void *all);
void *__kmpc_taskred_init(int number, int count, void *all)
{
    mr_thread *thread;
    void *group = NULL;
    if (!mr_kmpc_is_ours()) {
        return MR_REAL(__kmpc_taskred_init)(MR_THEIRS(number), count, all);
    }
    if ((thread = mr_enter()) != NULL) {
        mr_kmpc_thread *self = mr_kmpc_self(thread);
        group = self->task->open != NULL ? self->task->open : begin_group(self);
        begin_reduction(self, group, count, all);
        mr_leave(thread);
    }
    return group;
}

/* Each thread of the team has a group of its own, which adds to the thread's own copy. */
MR_EXPORT void *__kmpc_taskred_modifier_init(void *place, int number, int is_loop, int count,
                                             void *all);
void *__kmpc_taskred_modifier_init(void *place, int number, int is_loop, int count, void *all)
{
    mr_thread *thread;
    void *group = NULL;
    if (!mr_kmpc_is_ours()) {
        return MR_REAL(__kmpc_taskred_modifier_init)(place, MR_THEIRS(number), is_loop, count, all);
    }
    if ((thread = mr_enter()) != NULL) {
        mr_kmpc_thread *self = mr_kmpc_self(thread);
        group = begin_reduction(self, begin_group(self), count, all);
        mr_leave(thread);
    }
    return group;
}

MR_EXPORT void __kmpc_task_reduction_modifier_fini(void *place, int number, int is_loop);
void __kmpc_task_reduction_modifier_fini(void *place, int number, int is_loop)
{
    if (mr_kmpc_is_ours()) {
        end_group(MR_CALLER);
    } else {
        MR_REAL(__kmpc_task_reduction_modifier_fini)(place, MR_THEIRS(number), is_loop);
    }
}

/* The item that these bytes are, or are a thread's own copy of; -1: none. */
static int item_of(const reduction *made, const char *data)
{
    for (int i = 0; i < made->count; i++) {
        if (made->items[i].shared == data) {
            return i;
        }
        for (int t = 0; t < made->size; t++) {
            const char *own = made->own[i * made->size + t];
            if (own != NULL && data >= own && data < own + made->items[i].bytes) {
                return i;
            }
        }
    }
    return -1;
}

/* The copy of the thread; it is made when the thread first asks. */
static void *own_copy(mr_thread *thread, int tid, const reduction *made, int i, uintptr_t code)
{
    char **own = &made->own[i * made->size + tid];
    const item *one = &made->items[i];
    if (*own == NULL) {
        mr_leave(thread);
        char *copy = mr_kmpc_allocate(one->bytes, code);
        if (one->begin != NULL) {
            one->begin(copy, one->original);
        }
        thread = mr_enter();
        if (one->begin == NULL && thread != NULL) {
            for (size_t at = 0; at < one->bytes; at++) {
                ((volatile char *)copy)[at] = 0;
            }
            mr_memory_written(copy, one->bytes, code);
        }
        *own = copy;
    }
    if (thread != NULL) {
        mr_leave(thread);
    }
    return *own;
}

static void *own_data(mr_kmpc_group *group, void *data, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return data;
    }
    const mr_kmpc_thread *self = mr_kmpc_self(thread);
    for (group = group != NULL ? group : self->task->open; group != NULL; group = group->around) {
        int i = group->reduction != NULL ? item_of(group->reduction, data) : -1;
        if (i >= 0) {
            return own_copy(thread, self->member->tid, group->reduction, i, code);
        }
    }
    mr_leave(thread);
    return data;
}

MR_EXPORT void *__kmpc_task_reduction_get_th_data(int number, void *group, void *data);
void *__kmpc_task_reduction_get_th_data(int number, void *group, void *data)
{
    return mr_kmpc_is_ours()
               ? own_data(group, data, MR_CALLER)
               : MR_REAL(__kmpc_task_reduction_get_th_data)(MR_THEIRS(number), group, data);
}

/* ---- taskloop ---- */

typedef struct taskloop {
    mr_kmpc_body *body;
    uint64_t *lower, *upper; /* in it */
    int64_t stride;
    bool is_now, has_group;
    int how; /* 1: `given` iterations in each, 2: `given` tasks */
    uint64_t given;
    void (*duplicate)(void *to, void *from, int is_last);
} taskloop;

/* A task like the loop's, for these iterations. */
static void spawn_part(const taskloop *self, uint64_t lower, uint64_t upper, bool is_last,
                       uintptr_t code)
{
    const mr_kmpc_task *like = *mr_kmpc_task_of(self->body);
    char *block = mr_kmpc_allocate(like->block_bytes, code);
    mr_thread *thread = block != NULL ? mr_enter() : NULL;
    if (thread == NULL) {
        return;
    }
    char *body = block + MR_KMPC_BLOCK_HEAD, *from = (char *)self->body;
    size_t bytes = like->block_bytes - MR_KMPC_BLOCK_HEAD;
    for (size_t i = 0; i < bytes; i++) {
        ((volatile char *)body)[i] = from[i];
    }
    mr_kmpc_body *made = (mr_kmpc_body *)(void *)body;
    if (made->shared != NULL) {
        made->shared = body + ((char *)made->shared - from);
    }
    *(uint64_t *)(void *)(body + ((char *)self->lower - from)) = lower;
    *(uint64_t *)(void *)(body + ((char *)self->upper - from)) = upper;
    mr_memory_written(body, bytes, code);
    mr_kmpc_task *task = mr_kmpc_task_make(mr_kmpc_self(thread), body, like->flags,
                                           like->body_bytes, like->block_bytes);
    *mr_kmpc_task_of(body) = task;
    mr_leave(thread);
    if (self->duplicate != NULL) {
        self->duplicate(body, from, is_last);
    }
    if ((thread = mr_enter()) != NULL) {
        mr_kmpc_task_spawn(thread, mr_kmpc_self(thread), task, self->is_now, code);
        mr_leave(thread);
    }
}

static void begin_group_here(void)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        begin_group(mr_kmpc_self(thread));
        mr_leave(thread);
    }
}

static uint64_t part_count(const taskloop *self, uint64_t trip)
{
    enum { FOR_EACH_THREAD = 10 };
    const mr_kmpc_thread *thread = mr_kmpc_current();
    uint64_t count = thread != NULL ? (uint64_t)thread->member->team->size * FOR_EACH_THREAD : 1;
    if (self->how == 1 && self->given > 0) {
        count = trip / self->given;
    } else if (self->how == 2 && self->given > 0) {
        count = self->given;
    }
    return count < 1 ? 1 : count > trip ? trip : count;
}

static void do_taskloop(const taskloop *self, uintptr_t code)
{
    uint64_t lower = *self->lower, upper = *self->upper;
    int64_t stride = self->stride;
    uint64_t trip = 0;
    if (stride > 0 && (int64_t)lower <= (int64_t)upper) {
        trip = (upper - lower) / (uint64_t)stride + 1;
    } else if (stride < 0 && (int64_t)lower >= (int64_t)upper) {
        trip = (lower - upper) / (0 - (uint64_t)stride) + 1;
    }
    if (self->has_group) {
        begin_group_here();
    }
    uint64_t count = part_count(self, trip);
    for (uint64_t i = 0, at = 0; i < count && trip > 0; i++) {
        uint64_t width = trip / count + (i < trip % count);
        uint64_t first = lower + at * (uint64_t)stride;
        at += width;
        spawn_part(self, first, lower + (at - 1) * (uint64_t)stride, at == trip, code);
    }
    mr_kmpc_task *like = *mr_kmpc_task_of(self->body);
    mr_kmpc_free(mr_kmpc_block_of(self->body), code);
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_kmpc_task_forget(like);
        mr_leave(thread);
    }
    if (self->has_group) {
        end_group(code);
    }
}

#define TASKLOOP(name, parameters, arguments)                                                      \
    MR_EXPORT void name parameters;                                                                \
    void name parameters                                                                           \
    {                                                                                              \
        if (!mr_kmpc_is_ours()) {                                                                  \
            MR_REAL(name) arguments;                                                               \
            return;                                                                                \
        }                                                                                          \
        do_taskloop(&(taskloop){.body = body,                                                      \
                                .lower = lower,                                                    \
                                .upper = upper,                                                    \
                                .stride = stride,                                                  \
                                .is_now = !condition,                                              \
                                .has_group = !no_group,                                            \
                                .how = how,                                                        \
                                .given = given,                                                    \
                                .duplicate = duplicate},                                           \
                    MR_CALLER);                                                                    \
    }
TASKLOOP(__kmpc_taskloop,
         (void *place, int number, void *body, int condition, uint64_t *lower, uint64_t *upper,
          int64_t stride, int no_group, int how, uint64_t given,
          void (*duplicate)(void *to, void *from, int is_last)),
         (place, MR_THEIRS(number), body, condition, lower, upper, stride, no_group, how, given,
          duplicate))
TASKLOOP(__kmpc_taskloop_5,
         (void *place, int number, void *body, int condition, uint64_t *lower, uint64_t *upper,
          int64_t stride, int no_group, int how, uint64_t given, int modifier,
          void (*duplicate)(void *to, void *from, int is_last)),
         (place, MR_THEIRS(number), body, condition, lower, upper, stride, no_group, how, given,
          modifier, duplicate))
#undef TASKLOOP

/* ---- tasks that somebody else completes (detach) ---- */

MR_EXPORT void *__kmpc_task_allow_completion_event(void *place, int number, void *body);
void *__kmpc_task_allow_completion_event(void *place, int number, void *body)
{
    if (!mr_kmpc_is_ours()) {
        return MR_REAL(__kmpc_task_allow_completion_event)(place, MR_THEIRS(number), body);
    }
    mr_kmpc_task *task = *mr_kmpc_task_of(body);
    task->may_be_completed = true;
    return task;
}

MR_EXPORT void omp_fulfill_event(void *event);
void omp_fulfill_event(void *event)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread != NULL) {
        mr_gomp_fulfill(thread, event, MR_CALLER);
        mr_leave(thread);
    } else if (!mr_kmpc_is_ours()) {
        MR_REAL(omp_fulfill_event)(event);
    } else if ((thread = mr_enter()) != NULL) {
        mr_kmpc_task *task = event;
        mr_yield(thread);
        if (task->may_be_completed) { /* it runs */
            task->is_completed = true;
            mr_kmpc_before(task->created_token, MR_CALLER);
        } else {
            mr_kmpc_after(task->created_token, MR_CALLER);
            mr_kmpc_task_complete(mr_kmpc_self(thread), task, MR_CALLER);
        }
        mr_leave(thread);
    }
}
