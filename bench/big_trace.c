#include "big_trace.h"

#include "base/memory.h"
#include "big_run.h"

#include <stdlib.h>

enum {
    POOL_THREADS = 4,   /* of a pool, at most */
    THREAD_RESERVE = 8, /* begin, releases, end, join: to end a thread at any time */
    DUTY_RESERVE = 8,   /* what one call of choose may write */
};

/* Threads and pools. */

static void wake(mr_big_run *self, uint32_t thread)
{
    self->threads[thread].life = MR_BIG_FORKED;
    self->awake[self->awake_count++] = thread;
}

static void fork_thread(mr_big_run *self, const mr_big_worker *parent, uint32_t thread)
{
    mr_big_thread_op(self, parent, "fork(T", thread);
    wake(self, thread);
}

/* Ends a thread that holds no lock of its own accord, or at the end of the trace. */
static void end_thread(mr_big_run *self, mr_big_worker *thread)
{
    if (thread->life == MR_BIG_FORKED)
        mr_big_plain(self, thread, "begin(");
    while (thread->depth > 0)
        mr_big_leave(self, thread);
    mr_big_plain(self, thread, "end(");
    thread->life = MR_BIG_ENDED;
    thread->times = 0;
    uint32_t number = (uint32_t)(thread - self->threads), at = 0;
    while (self->awake[at] != number)
        at++;
    self->awake[at] = self->awake[--self->awake_count];
}

static void start_pool(mr_big_run *self, mr_big_worker *parent, mr_big_pool *it)
{
    uint32_t lock = self->shape.locks + parent->pool;
    it->started = true;
    mr_big_enter(self, parent, lock, &self->program.plain_tail);
    parent->base = 1;
    for (uint32_t i = 0; i < it->count; i++)
        fork_thread(self, parent, it->first + i);
}

/* The parent holds no lock but that of the pool. */
static void join_pool(mr_big_run *self, mr_big_worker *parent, mr_big_pool *it)
{
    for (uint32_t i = 0; i < it->count; i++)
        mr_big_thread_op(self, parent, "join(T", it->first + i);
    mr_big_leave(self, parent);
    parent->base = 0;
    it->done = true;
}

static bool pool_ended(const mr_big_run *self, const mr_big_pool *it)
{
    for (uint32_t i = 0; i < it->count; i++)
        if (self->threads[it->first + i].life != MR_BIG_ENDED)
            return false;
    return true;
}

/* What a pool asks of this thread now, which holds no lock but a pool's. False: nothing. */
static bool attend_pool(mr_big_run *self, mr_big_worker *thread)
{
    mr_big_pool *it = &self->pools[thread->pool];
    if (it->done || self->left > (it->started ? it->end_left : it->start_left))
        return false;
    if (thread != &self->threads[it->parent])
        end_thread(self, thread);
    else if (!it->started)
        start_pool(self, thread, it);
    else if (pool_ended(self, it))
        join_pool(self, thread, it);
    else
        return false;
    return true;
}

/* The next thing of a thread that is done with its work: writes events, or sets new work. */
static void choose(mr_big_run *self, mr_big_worker *thread)
{
    if (thread->life == MR_BIG_FORKED) {
        thread->life = MR_BIG_RUNNING;
        mr_big_plain(self, thread, "begin(");
        return;
    }
    if (thread->depth > thread->base) {
        mr_big_choose_in_section(self, thread);
        return;
    }
    if (thread->pool != MR_BIG_NO_POOL && attend_pool(self, thread))
        return;
    mr_big_choose_any(self, thread);
}

/* Running. */

static void run_thread(mr_big_run *self, mr_big_worker *thread)
{
    uint64_t run = 1;
    while (mr_big_below(self, self->shape.run) != 0)
        run++;
    uint64_t stop = self->left > self->reserve + run ? self->left - run : self->reserve;
    while (self->left > stop && thread->life != MR_BIG_ENDED) {
        if (thread->times == 0)
            choose(self, thread);
        else
            mr_big_work(self, thread, self->left - stop);
    }
}

static void start(mr_big_run *self)
{
    mr_big_worker *main_thread = &self->threads[0];
    mr_big_plain(self, main_thread, "begin(");
    main_thread->life = MR_BIG_RUNNING;
    self->awake[self->awake_count++] = 0;
    for (uint32_t t = 0; t < MR_BIG_TABLES; t++) {
        mr_big_table *on = &self->tables[t];
        mr_big_set_work(main_thread, &self->program.table_setup, self->table_cells);
        main_thread->indexed = true;
        main_thread->targets[0] = (mr_big_target){&on->name, on->cells};
        mr_big_work(self, main_thread, self->table_cells);
    }
    for (uint32_t t = 1; t <= self->worker_count; t++)
        fork_thread(self, main_thread, t);
}

static void finish(mr_big_run *self)
{
    mr_big_worker *main_thread = &self->threads[0];
    for (uint32_t p = 0; p < self->pool_count; p++) {
        mr_big_pool *it = &self->pools[p];
        mr_big_worker *parent = &self->threads[it->parent];
        for (uint32_t i = 0; it->started && i < it->count; i++)
            if (self->threads[it->first + i].life != MR_BIG_ENDED)
                end_thread(self, &self->threads[it->first + i]);
        while (parent->depth > parent->base)
            mr_big_leave(self, parent);
        if (it->started && !it->done)
            join_pool(self, parent, it);
    }
    for (uint32_t t = 1; t <= self->worker_count; t++)
        end_thread(self, &self->threads[t]);
    while (main_thread->depth > 0)
        mr_big_leave(self, main_thread);
    for (uint32_t t = 1; t <= self->worker_count; t++)
        mr_big_thread_op(self, main_thread, "join(T", t);
    while (self->left > 1) {
        if (main_thread->times == 0)
            mr_big_choose_own(self, main_thread);
        mr_big_work(self, main_thread, self->left - 1);
    }
    mr_big_plain(self, main_thread, "end(");
}

/* Setting up. */

mr_big_shape mr_big_shape_default(void)
{
    return (mr_big_shape){.events = 1000000,
                          .threads = 16,
                          .locks = 400,
                          .run = 30,
                          .racy = 20000,
                          .values = true,
                          .queues = true,
                          .seed = 1};
}

static uint64_t reserve_of(const mr_big_shape *shape)
{
    return (uint64_t)shape->threads * THREAD_RESERVE + DUTY_RESERVE;
}

uint64_t mr_big_least_events(const mr_big_shape *shape)
{
    return reserve_of(shape) + 2 + MR_BIG_TABLES + shape->threads;
}

/* Pools come one after the other, each for about two shares of the trace, so that they overlap. */
static void set_pools(mr_big_run *self)
{
    uint32_t others = self->shape.threads - 1, next = self->worker_count + 1;
    uint64_t share = self->shape.events / (self->pool_count + 2);
    for (uint32_t p = 0; p < self->pool_count; p++) {
        uint32_t rest = others + 1 - next, parent = p + 1;
        mr_big_pool *it = &self->pools[p];
        *it = (mr_big_pool){.first = next,
                            .count = rest < POOL_THREADS ? rest : POOL_THREADS,
                            .parent = parent,
                            .start_left = self->shape.events - share * p - share / 2,
                            .end_left = self->shape.events - share * (p + 2)};
        self->threads[parent].pool = p;
        for (uint32_t i = 0; i < it->count; i++)
            self->threads[next++].pool = p;
    }
}

static void set_thread(mr_big_run *self, uint32_t number)
{
    mr_big_worker *thread = &self->threads[number];
    thread->prefix = mr_big_piece_make("T", number, "|");
    thread->pool = MR_BIG_NO_POOL;
    mr_big_set_thread(self, thread);
}

static void set_up(mr_big_run *self)
{
    uint64_t cells = self->shape.events / 100 / MR_BIG_TABLES;
    self->table_cells = (uint32_t)(cells < 1                    ? 1
                                   : cells > MR_BIG_TABLE_CELLS ? MR_BIG_TABLE_CELLS
                                                                : cells);
    self->left = self->shape.events;
    self->reserve = reserve_of(&self->shape);
    self->random.state = self->shape.seed;
    self->next_name = 100; /* V1[…] … are the tables */
    mr_big_program_make(&self->program, self->shape.seed, self->shape.values);
    for (uint32_t t = 0; t < MR_BIG_TABLES; t++)
        self->tables[t].name = mr_big_piece_make("", t + 1, "[");
    for (uint32_t lock = 0; lock < self->shape.locks; lock++)
        self->guarded[lock].name = mr_big_piece_make("", lock + 1, "");
    for (uint32_t q = 0; q < MR_BIG_QUEUES; q++)
        mr_big_new_object(self, &self->queued[q]);
    for (uint32_t t = 0; t < self->shape.threads; t++)
        set_thread(self, t);
    set_pools(self);
}

static mr_big_run *generator_new(const mr_big_shape *shape)
{
    mr_big_run *self = mr_calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    uint32_t others = shape->threads - 1, pooled = others / 2;
    self->shape = *shape;
    self->worker_count = others - pooled;
    self->pool_count = (pooled + POOL_THREADS - 1) / POOL_THREADS;
    self->threads = mr_calloc(shape->threads, sizeof *self->threads);
    self->awake = mr_calloc(shape->threads, sizeof *self->awake);
    self->pools = mr_calloc(self->pool_count + 1, sizeof *self->pools);
    self->guarded = mr_calloc(shape->locks + 1, sizeof *self->guarded); /* the last: counters */
    self->held = mr_calloc(shape->locks + self->pool_count, sizeof *self->held);
    return self;
}

static void generator_free(mr_big_run *self)
{
    if (self == NULL)
        return;
    free(self->threads);
    free(self->awake);
    free(self->pools);
    free(self->guarded);
    free(self->held);
    free(self);
}

bool mr_big_trace_write(const mr_big_shape *shape, mr_big_sink *sink, void *context)
{
    mr_big_run *self = generator_new(shape);
    bool ok = self != NULL && self->threads != NULL && self->awake != NULL && self->pools != NULL &&
              self->guarded != NULL && self->held != NULL;
    if (ok) {
        self->sink = sink;
        self->context = context;
        set_up(self);
        start(self);
        while (self->left > self->reserve && !self->failed)
            run_thread(self, &self->threads[self->awake[mr_big_below(self, self->awake_count)]]);
        if (!self->failed)
            finish(self);
        mr_big_flush(self);
        ok = !self->failed;
    }
    generator_free(self);
    return ok;
}
