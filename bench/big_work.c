#include "big_run.h"

#include <string.h>

/* Small numbers are more likely. */
static uint32_t skewed_below(mr_big_run *self, uint32_t bound)
{
    uint32_t a = mr_big_below(self, bound), b = mr_big_below(self, bound);
    return a < b ? a : b;
}

void mr_big_set_work(mr_big_worker *thread, const mr_big_method *method, uint32_t times)
{
    thread->method = method;
    thread->times = times;
    thread->next = thread->index = 0;
    thread->indexed = false;
}

static void work_on_object(mr_big_worker *thread, const mr_big_method *method, uint32_t times,
                           mr_big_object *on)
{
    mr_big_set_work(thread, method, times);
    thread->targets[0] = (mr_big_target){&on->name, on->cells};
}

void mr_big_new_object(mr_big_run *self, mr_big_object *it)
{
    it->name = mr_big_piece_make("", self->next_name++, "");
    memset(it->cells, 0, sizeof it->cells);
}

static void new_array(mr_big_run *self, mr_big_array *it)
{
    it->name = mr_big_piece_make("", self->next_name++, "[");
    memset(it->cells, 0, sizeof it->cells);
}

static void warm_up(mr_big_run *self, mr_big_worker *thread, uint32_t hot)
{
    thread->hot_class[hot] = (uint16_t)skewed_below(self, MR_BIG_CLASSES);
    thread->hot_method[hot] = (uint16_t)skewed_below(self, MR_BIG_METHODS);
}

void mr_big_set_thread(mr_big_run *self, mr_big_worker *thread)
{
    for (uint32_t type = 0; type < MR_BIG_CLASSES; type++)
        mr_big_new_object(self, &thread->objects[type]);
    for (uint32_t a = 0; a < MR_BIG_ARRAYS; a++)
        new_array(self, &thread->arrays[a]);
    for (uint32_t hot = 0; hot < MR_BIG_HOT_METHODS; hot++)
        warm_up(self, thread, hot);
}

static void choose_object(mr_big_run *self, mr_big_worker *thread)
{
    uint32_t hot = mr_big_below(self, MR_BIG_HOT_METHODS);
    if (mr_big_below(self, 40) == 0)
        warm_up(self, thread, hot);
    uint32_t type = thread->hot_class[hot];
    if (mr_big_below(self, 10) == 0)
        mr_big_new_object(self, &thread->objects[type]);
    work_on_object(thread, &self->program.object[type][thread->hot_method[hot]],
                   1 + skewed_below(self, 10), &thread->objects[type]);
}

static void choose_array(mr_big_run *self, mr_big_worker *thread)
{
    mr_big_set_work(thread, &self->program.array[skewed_below(self, MR_BIG_METHODS)],
                    4 + skewed_below(self, MR_BIG_ARRAY_CELLS - 3));
    thread->indexed = true;
    if (mr_big_below(self, 25) == 0)
        new_array(self, &thread->arrays[mr_big_below(self, MR_BIG_ARRAYS)]);
    for (uint32_t slot = 0; slot < MR_BIG_ARRAYS; slot++)
        thread->targets[slot] =
            (mr_big_target){&thread->arrays[slot].name, thread->arrays[slot].cells};
}

static void choose_table(mr_big_run *self, mr_big_worker *thread)
{
    uint32_t first = mr_big_below(self, self->table_cells), most = self->table_cells - first;
    mr_big_table *on = &self->tables[mr_big_below(self, MR_BIG_TABLES)];
    mr_big_set_work(thread, &self->program.table[mr_big_below(self, MR_BIG_METHODS)],
                    1 + mr_big_below(self, most < 8 ? most : 8));
    thread->indexed = true;
    thread->index = first;
    thread->targets[0] = (mr_big_target){&on->name, on->cells};
}

void mr_big_choose_own(mr_big_run *self, mr_big_worker *thread)
{
    uint32_t draw = mr_big_below(self, 100);
    if (draw < 15)
        choose_array(self, thread);
    else if (draw < 28)
        choose_table(self, thread);
    else
        choose_object(self, thread);
}

static void choose_counter(mr_big_run *self, mr_big_worker *thread)
{
    static const mr_big_piece no_name;
    static const uint32_t methods = MR_BIG_COUNTER_METHODS;
    uint32_t counter = mr_big_below(self, MR_BIG_COUNTERS);
    work_on_object(thread, &self->program.counter[counter][mr_big_below(self, methods)], 1,
                   &self->guarded[self->shape.locks]);
    thread->targets[0].name = &no_name;
}

/* Half of the time a lock of the thread's own neighbourhood. */
static uint32_t choose_lock(mr_big_run *self, const mr_big_worker *thread)
{
    uint32_t locks = self->shape.locks, share = locks / self->shape.threads;
    if (share == 0 || mr_big_below(self, 2) == 0)
        return skewed_below(self, locks);
    return (uint32_t)(thread - self->threads) * share + mr_big_below(self, share);
}

/* What a lock guards. A queue gives the object that the last visitor left, for one of ours, of a
 * class that is not much in use. */
static void choose_guarded(mr_big_run *self, mr_big_worker *thread, uint32_t lock,
                           bool just_entered)
{
    const mr_big_program *program = &self->program;
    if (self->shape.queues && just_entered && lock < MR_BIG_QUEUES) {
        mr_big_object *ours = &thread->objects[MR_BIG_CLASSES - 1 - lock],
                      taken = self->queued[lock];
        self->queued[lock] = *ours;
        *ours = taken;
        work_on_object(thread, &program->queue, 1, &self->guarded[lock]);
        return;
    }
    uint32_t method = mr_big_below(self, MR_BIG_GUARD_METHODS);
    work_on_object(thread, &program->guarded[lock % MR_BIG_GUARD_KINDS][method],
                   1 + skewed_below(self, 2), &self->guarded[lock]);
}

/* Enters a section. Not when the lock is taken: then there is other work to do, so nobody ever
 * waits for a lock. */
static void choose_section(mr_big_run *self, mr_big_worker *thread)
{
    uint32_t lock = choose_lock(self, thread);
    if (self->held[lock] || thread->depth - thread->base == MR_BIG_SECTIONS) {
        mr_big_choose_own(self, thread);
        return;
    }
    choose_guarded(self, thread, lock, true);
    const mr_big_piece *tail = &self->program.guarded[lock % MR_BIG_GUARD_KINDS][0].sync_tail;
    bool queue = self->shape.queues && lock < MR_BIG_QUEUES;
    mr_big_enter(self, thread, lock, queue ? &self->program.queue.sync_tail : tail);
}

void mr_big_choose_in_section(mr_big_run *self, mr_big_worker *thread)
{
    uint32_t draw = mr_big_below(self, 100);
    if (draw < 70)
        mr_big_leave(self, thread);
    else if (draw < 84)
        choose_guarded(self, thread, thread->sections[thread->depth - 1].lock, false);
    else if (draw < 94)
        mr_big_choose_own(self, thread);
    else
        choose_section(self, thread);
}

void mr_big_choose_any(mr_big_run *self, mr_big_worker *thread)
{
    if (mr_big_below(self, 1000000) < self->shape.racy)
        choose_counter(self, thread);
    else if (mr_big_below(self, 100) < 58)
        choose_section(self, thread);
    else
        mr_big_choose_own(self, thread);
}
