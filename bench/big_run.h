/*
 * big_run: the state of the program that big_trace runs, and the parts that it is run with. Inside
 * of big_trace only.
 */
#ifndef MR_BENCH_BIG_RUN_H
#define MR_BENCH_BIG_RUN_H

#include "big_program.h"
#include "big_trace.h"

enum {
    MR_BIG_BUFFER_BYTES = 1 << 18,
    MR_BIG_QUEUES = 8,      /* the first locks guard queues, too; less than MR_BIG_CLASSES */
    MR_BIG_SECTIONS = 3,    /* nested, not counting that of a pool */
    MR_BIG_HOT_METHODS = 6, /* that a thread is busy with */
    MR_BIG_ARRAYS = 3,      /* of a thread */
    MR_BIG_NO_POOL = UINT32_MAX,
};

typedef struct mr_big_object {
    mr_big_piece name;
    uint16_t cells[MR_BIG_FIELDS];
} mr_big_object;

typedef struct mr_big_array {
    mr_big_piece name;
    uint16_t cells[MR_BIG_ARRAY_CELLS];
} mr_big_array;

typedef struct mr_big_table {
    mr_big_piece name;
    uint16_t cells[MR_BIG_TABLE_CELLS];
} mr_big_table;

/* What an access works on. */
typedef struct mr_big_target {
    const mr_big_piece *name;
    uint16_t *cells;
} mr_big_target;

/* A critical section that a thread is in. */
typedef struct mr_big_section {
    uint32_t lock;
    const mr_big_piece *tail;
} mr_big_section;

typedef enum mr_big_life { MR_BIG_UNBORN, MR_BIG_FORKED, MR_BIG_RUNNING, MR_BIG_ENDED } mr_big_life;

typedef struct mr_big_worker {
    mr_big_piece prefix; /* "T3|" */
    mr_big_life life;
    /* The piece of work that it is at: a method, `times` more times, now at access `next`. */
    const mr_big_method *method;
    uint32_t next, times;
    uint32_t index; /* of elements; counts up with each time when `indexed` */
    bool indexed;
    mr_big_target targets[MR_BIG_SLOTS];
    mr_big_section sections[MR_BIG_SECTIONS + 1];
    uint32_t depth, base; /* open sections; of these the one around its pool: 0 or 1 */
    uint32_t pool;        /* that it is in or that it forks; or MR_BIG_NO_POOL */
    mr_big_object objects[MR_BIG_CLASSES];
    mr_big_array arrays[MR_BIG_ARRAYS];
    uint16_t hot_class[MR_BIG_HOT_METHODS], hot_method[MR_BIG_HOT_METHODS];
} mr_big_worker;

/* Threads that one worker forks when `start_left` events are left, and joins when `end_left` are.
 */
typedef struct mr_big_pool {
    uint32_t first, count, parent;
    uint64_t start_left, end_left;
    bool started, done;
} mr_big_pool;

typedef struct mr_big_run {
    mr_big_shape shape;
    mr_random random;
    mr_big_sink *sink;
    void *context;
    bool failed;                       /* the sink wants no more */
    uint64_t left, reserve;            /* events to write; of these for ending all threads */
    uint32_t worker_count, pool_count; /* threads 1 … worker_count are workers; then come pools */
    uint32_t table_cells;
    uint64_t next_name; /* of objects and arrays */
    mr_big_worker *threads;
    mr_big_pool *pools;
    uint32_t *awake, awake_count; /* threads that can run */
    mr_big_object *guarded;       /* one a lock, then one for the counters */
    bool *held;                   /* one a lock, then one a pool */
    mr_big_object queued[MR_BIG_QUEUES];
    mr_big_table tables[MR_BIG_TABLES];
    size_t used; /* of the buffer */
    mr_big_program program;
    char buffer[MR_BIG_BUFFER_BYTES];
} mr_big_run;

/* big_lines.c: every line of the trace. */

void mr_big_flush(mr_big_run *self);
/* op(operand) with the location of forks, joins …; mr_big_plain: without operand. `op` is "fork(T".
 */
void mr_big_plain(mr_big_run *self, const mr_big_worker *thread, const char *op);
void mr_big_thread_op(mr_big_run *self, const mr_big_worker *thread, const char *op,
                      uint32_t operand);
/* Acquires a lock that is free; releases the innermost one. */
void mr_big_enter(mr_big_run *self, mr_big_worker *thread, uint32_t lock, const mr_big_piece *tail);
void mr_big_leave(mr_big_run *self, mr_big_worker *thread);
/* Does at most `most` accesses of the thread's piece of work. */
void mr_big_work(mr_big_run *self, mr_big_worker *thread, uint64_t most);

/* big_work.c: what a thread does next, when its piece of work is done. */

void mr_big_set_work(mr_big_worker *thread, const mr_big_method *method, uint32_t times);
/* New things for the slots of a thread. */
void mr_big_set_thread(mr_big_run *self, mr_big_worker *thread);
void mr_big_new_object(mr_big_run *self, mr_big_object *object);
/* Something with the thread's own data or the tables. */
void mr_big_choose_own(mr_big_run *self, mr_big_worker *thread);
/* Something inside of a section, or at the end of one: writes one event at most. */
void mr_big_choose_in_section(mr_big_run *self, mr_big_worker *thread);
/* Something of any kind, by a thread without sections: writes one event at most. */
void mr_big_choose_any(mr_big_run *self, mr_big_worker *thread);

/* A random number below `bound`. */
static inline uint32_t mr_big_below(mr_big_run *self, uint32_t bound)
{
    return mr_random_below(&self->random, bound);
}

#endif
