/*
 * Tasks of OpenMP: who does them and when, what they wait for. kmpc_task_calls.c has the functions that compiled code calls.
 */
#include "kmpc_tasks.h"

#include "writer.h"

enum { HAS_DESTRUCTORS = 8, MOST_DEPTH = 100 };

/* ---- lives ---- */

void mr_kmpc_task_forget(mr_kmpc_task *task)
{
    while (task != NULL && task->body != NULL && --task->order.users == 0) {
        mr_kmpc_task *parent = task->parent;
        mr_dependent_comes_after(&task->order, false, 0);
        mr_kmpc_forget_places(task);
        mr_openmp_give(task, sizeof *task);
        task = parent;
    }
}

static void after_dependences(mr_kmpc_task *task, uintptr_t code)
{
    mr_dependent_comes_after(&task->order, true, code);
}

mr_kmpc_task *mr_kmpc_task_make(mr_kmpc_thread *self, void *body, unsigned flags, size_t body_bytes,
                                size_t block_bytes)
{
    char *tokens = mr_openmp_places(2);
    mr_kmpc_task *task = mr_openmp_take(sizeof *task);
    *task = (mr_kmpc_task){.order = {.end = tokens + 1, .users = 1},
                           .parent = self->task,
                           .body = body,
                           .flags = flags,
                           .body_bytes = body_bytes,
                           .block_bytes = block_bytes,
                           .is_final = (flags & MR_KMPC_FINAL) != 0 || self->task->is_final,
                           .created_token = tokens,
                           .depth = self->task->depth + 1,
                           .settings = self->settings,
                           .group = self->task->open,
                           .open = self->task->open};
    self->task->order.users++;
    return task;
}

/* ---- queues ---- */

static void enqueue(mr_kmpc_task *task)
{
    mr_kmpc_member *target = task->target;
    mr_kmpc_task **children = &task->parent->queued;
    task->next = NULL;
    task->from = target->queue_end;
    *task->from = task;
    target->queue_end = &task->next;
    task->next_child = *children;
    task->from_child = children;
    if (*children != NULL) {
        (*children)->from_child = &task->next_child;
    }
    *children = task;
    mr_wake_key(target->team);
}

static mr_kmpc_task *dequeue(mr_kmpc_task *task)
{
    *task->from = task->next;
    if (task->next != NULL) {
        task->next->from = task->from;
    } else {
        task->target->queue_end = task->from;
    }
    *task->from_child = task->next_child;
    if (task->next_child != NULL) {
        task->next_child->from_child = task->from_child;
    }
    return task;
}

static bool is_within(const mr_kmpc_task *task, const mr_kmpc_task *of)
{
    while (task != NULL && task != of && task->body != NULL) {
        task = task->parent;
    }
    return task == of;
}

/*
 * While the thread has a lock, or many tasks of it wait, it does only what belongs to the one that waits: children at once, whoever was to do
 * them, since others may take none either. Tasks further down are those of children that have ended, or that threads wait for.
 */
static mr_kmpc_task *next_task(mr_kmpc_thread *self, bool steals)
{
    mr_kmpc_team *team = self->member->team;
    bool takes_all = self->locks_held == 0 && self->depth < MOST_DEPTH;
    mr_kmpc_task *task = takes_all ? self->member->queue : self->task->queued;
    for (int i = 0; steals && task == NULL && i < team->size; i++) {
        task = team->members[i].queue;
        while (!takes_all && task != NULL && !is_within(task, self->task)) {
            task = task->next;
        }
    }
    return task != NULL ? dequeue(task) : NULL;
}

/* The task that was made so, of those that can be done now: most are the thread's. */
static mr_kmpc_task *take_made(const mr_kmpc_member *member, mr_made made, unsigned comes_after)
{
    const mr_kmpc_team *team = member->team;
    for (int i = 0; i < team->size; i++) {
        mr_kmpc_task *task = team->members[(member->tid + i) % team->size].queue;
        while (task != NULL &&
               (!mr_is_made(task->made, made) || task->order.after_count != comes_after)) {
            task = task->next;
        }
        if (task != NULL) {
            return dequeue(task);
        }
    }
    return NULL;
}

/* In a replay: does the schedule name the next task of the thread? `own`: the thread comes itself after so many ends, next. When some come first that
 * may be these, the task has to be there, for it to be known. */
static mr_takes takes_by_schedule(const mr_thread *thread, const mr_kmpc_member *member,
                                  uint64_t own, mr_kmpc_task **task)
{
    mr_made made;
    unsigned comes_after = 0;
    mr_takes takes =
        mr_steers() ? mr_steer_takes(thread, false, &made, &comes_after) : MR_TAKES_ANY;
    if (takes == MR_TAKES_THIS) {
        *task = take_made(member, made, comes_after);
        bool is_sure = *task != NULL || own == 0 || comes_after < own;
        takes = is_sure ? takes : MR_TAKES_NONE;
    }
    return takes;
}

typedef enum whose_task {
    NAMED, /* by the schedule of a replay */
    ITS_OWN,
    ANYBODYS,
} whose_task;

/* The task that the thread is to do now. In a replay others run first until it is there. */
static mr_kmpc_task *choose_task(mr_thread *thread, mr_kmpc_thread *self, whose_task whose,
                                 uint64_t own)
{
    mr_kmpc_task *task = NULL;
    mr_takes takes;
    while ((takes = takes_by_schedule(thread, self->member, own, &task)) == MR_TAKES_THIS &&
           task == NULL) {
        mr_kmpc_resume(thread);
    }
    bool is_free = takes == MR_TAKES_ANY && whose != NAMED && self->member->team->outstanding > 0;
    return is_free ? next_task(self, whose == ANYBODYS) : task;
}

/* ---- the end ---- */

static void end_one(mr_kmpc_counter *counter, uintptr_t code)
{
    mr_openmp_units(MR_LOG_POST, MR_LOG_ROLE_BARRIER_IN, counter->token, 1, 0, code);
    counter->left--;
    counter->ended++;
}

void mr_kmpc_count_one(mr_kmpc_counter *counter)
{
    if (counter->token == NULL) {
        counter->token = mr_openmp_places(1);
    }
    counter->left++;
}

void mr_kmpc_task_complete(mr_kmpc_thread *self, mr_kmpc_task *task, uintptr_t code)
{
    mr_kmpc_team *team = task->target != NULL ? task->target->team : self->member->team;
    if (task->order.is_depended_on) {
        mr_write_object(MR_LOG_BEFORE, MR_LOG_ROLE_TASK_END, task->order.end, code, 0, 0);
    }
    task->order.has_ended = true;
    mr_kmpc_task *next;
    while ((next = (mr_kmpc_task *)mr_dependent_ready(&task->order)) != NULL) {
        if (next->target != NULL) { /* else its thread waits for that */
            enqueue(next);
        }
    }
    end_one(&task->parent->children, code);
    if (task->group != NULL) {
        end_one(&task->group->tasks, code);
    }
    team->outstanding -= task->is_deferred;
    mr_wake_key(team);
    mr_kmpc_task_forget(task);
}

/* ---- doing one ---- */

void mr_kmpc_task_run(mr_thread *thread, mr_kmpc_thread *self, mr_kmpc_task *task, uintptr_t code)
{
    mr_kmpc_task *before = self->task;
    mr_kmpc_settings settings = self->settings;
    mr_kmpc_body *body = task->body;
    self->task = task;
    self->settings = task->settings;
    self->depth++;
    mr_leave(thread);
    do {
        task->goes_on = false;
        body->routine(self->number, body);
    } while (task->goes_on);
    if (task->flags & HAS_DESTRUCTORS) {
        body->data.destructors(self->number, body);
    }
    if (!task->may_be_completed) {
        mr_kmpc_free(mr_kmpc_block_of(body), code);
    }
    thread = mr_enter();
    self->depth--;
    self->task = before;
    self->settings = settings;
    if (thread != NULL && task->may_be_completed && !task->is_completed) {
        mr_kmpc_before(task->created_token, code);
        task->may_be_completed = false; /* whoever completes it ends it */
    } else if (thread != NULL) {
        if (task->is_completed) {
            mr_kmpc_after(task->created_token, code);
        }
        mr_kmpc_task_complete(self, task, code);
    }
}

static bool do_task(mr_thread *thread, mr_kmpc_thread *self, whose_task whose, uint64_t own,
                    uintptr_t code)
{
    mr_kmpc_task *task = choose_task(thread, self, whose, own);
    if (task == NULL) {
        return false;
    }
    mr_kmpc_resume(thread);
    after_dependences(task, code); /* first: most are created long before */
    mr_write_object(MR_LOG_AFTER, MR_LOG_ROLE_TASK, task->created_token, code, 0, 0);
    mr_kmpc_task_run(thread, self, task, code);
    return true;
}

bool mr_kmpc_do_task(mr_thread *thread, mr_kmpc_thread *self, bool steals, uintptr_t code)
{
    return do_task(thread, self, steals ? ANYBODYS : ITS_OWN, 0, code);
}

/* `own`: of so many ends the thread comes after when the count is 0. In a replay others may have ended sooner what it waits for; it still does the
 * tasks that it did meanwhile. */
static void wait_for(mr_thread *thread, mr_kmpc_thread *self, const uint64_t *count, uint64_t own,
                     uintptr_t code)
{
    whose_task whose = ITS_OWN;
    mr_yield(thread);
    do {
        while (*count > 0) {
            bool done = do_task(thread, self, whose, own, code);
            bool long_wait =
                !done && mr_kmpc_block(thread, self->member->team, whose == ITS_OWN, code);
            whose = long_wait ? ANYBODYS : ITS_OWN;
        }
    } while (mr_steers() && do_task(thread, self, NAMED, own, code));
    mr_kmpc_resume(thread);
}

void mr_kmpc_wait_for_ends(mr_thread *thread, mr_kmpc_thread *self, mr_kmpc_task *task,
                           uintptr_t code)
{
    wait_for(thread, self, &task->order.waits_for, task->order.after_count, code);
    after_dependences(task, code);
}

void mr_kmpc_wait_for_all(mr_thread *thread, mr_kmpc_thread *self, mr_kmpc_counter *counter,
                          uintptr_t code)
{
    wait_for(thread, self, &counter->left, 0, code);
    mr_openmp_units(MR_LOG_WAIT, MR_LOG_ROLE_BARRIER_IN, counter->token, counter->ended, 0, code);
    counter->ended = 0;
}

/* The next thread in turn, which is another one of tasks of tasks with another seed: but not the one whose task has made that
 * of this thread, if there are more. It may wait for all of them. */
static uint64_t choose_target(mr_kmpc_thread *self)
{
    mr_kmpc_task *task = self->task;
    uint64_t tid = (uint64_t)self->member->tid, size = (uint64_t)self->member->team->size;
    uint64_t turn = (tid + 1 + task->spawned++ + task->depth * mr_rt.header->seed) % size;
    bool may_wait = size > 2 && task->creator != NULL && turn == (uint64_t)task->creator->tid;
    return may_wait ? (turn + 1) % size : turn;
}

void mr_kmpc_task_spawn(mr_thread *thread, mr_kmpc_thread *self, mr_kmpc_task *task, bool waits,
                        uintptr_t code)
{
    mr_kmpc_member *member = self->member;
    mr_kmpc_team *team = member->team;
    mr_yield(thread);
    mr_kmpc_count_one(&self->task->children);
    if (task->group != NULL) {
        mr_kmpc_count_one(&task->group->tasks);
    }
    if (team->size == 1 || self->task->is_final || waits) {
        mr_kmpc_wait_for_ends(thread, self, task, code);
        mr_kmpc_task_run(thread, self, task, code);
        return;
    }
    task->is_deferred = true;
    task->creator = member;
    task->target = &team->members[choose_target(self)];
    team->outstanding++;
    if (mr_steers()) {
        task->made = mr_steer_made(thread);
    }
    mr_write_object(MR_LOG_BEFORE, MR_LOG_ROLE_TASK, task->created_token, code, 0, 0);
    if (task->order.waits_for == 0) {
        enqueue(task);
    }
    mr_yield(thread);
}

/* ---- dependences ---- */

enum { READS = 1 };

static void let_go(mr_dependent *task)
{
    mr_kmpc_task_forget((mr_kmpc_task *)task);
}

void mr_kmpc_forget_places(mr_kmpc_task *task)
{
    mr_dependences_drop(&task->places, let_go);
}

/* Of a task that only waits (`is_wait`) nobody comes after. Who excludes others in any order (mutexinoutset, inoutset) is as one who writes. */
void mr_kmpc_task_depends(mr_kmpc_task *parent, mr_kmpc_task *task, int count,
                          const mr_kmpc_dependence *all, bool is_wait)
{
    for (int i = 0; i < count; i++) {
        mr_dependences_add(&parent->places, &task->order, all[i].address, all[i].flags != READS,
                           !is_wait, let_go);
    }
}
