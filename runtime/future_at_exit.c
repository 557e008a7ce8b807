/*
 * Futures that are made ready when their thread ends (std::promise::set_value_at_thread_exit). That
 * happens in libstdc++, which is not recorded: it takes a share of the state, sets its status, and
 * lets go of the share. Here the same is done around it, with a share of its own that is logged, and
 * the status is logged.
 */
#include "real.h"
#include "scheduler.h"
#include "writer.h"

/* What libstdc++ has before a shared object: its count of owners and of weak ones. */
typedef struct control {
    const struct control_table {
        void (*destructors[2])(struct control *);
        void (*dispose)(struct control *); /* the last owner let go */
        void (*destroy)(struct control *); /* the last weak one did, too */
    } * table;
    int owners, weak;
} control;

/* The state of a future. */
typedef struct state {
    const void *table, *result;
    unsigned status;
} state;

enum { READY = 1 };

/* What is to be done at the end of the thread. */
typedef struct make_ready {
    struct make_ready *next;
    void (*run)(void *);
    state *state;
    control *control;
} make_ready;

static void (*real_run)(void *);

static void log_update(const void *address, int64_t before, int64_t after)
{
    enum { WORD = 2, SEQ_CST = 5 };
    mr_writer_settle();
    uint64_t *record = mr_writer_room();
    record[0] =
        mr_log_head(MR_LOG_ATOMIC_UPDATE, WORD | SEQ_CST << MR_LOG_ORDER_SHIFT, (uint64_t)address);
    record[1] = 0;
    record[2] = (uint64_t)before;
    record[3] = (uint64_t)after;
    mr_writer_advance(record + 4);
}

/* Adds to a count; returns what it was. */
static int add(int *count, int change)
{
    int before = __atomic_fetch_add(count, change, __ATOMIC_ACQ_REL);
    log_update(count, before, before + change);
    return before;
}

/* Takes the share and logs what libstdc++ will do. Nobody else runs until it is done. */
static void before_run(mr_thread *thread, const make_ready *self)
{
    unsigned status = __atomic_load_n(&self->state->status, __ATOMIC_RELAXED);
    int weak = self->control->weak;
    thread->quiet++;
    add(&self->control->owners, 1);
    log_update(&self->state->status, status, READY);
    log_update(&self->control->weak, weak, weak - 1);
}

static void let_go(mr_thread *thread, control *shared)
{
    bool last = add(&shared->owners, -1) == 1;
    mr_leave(thread);
    if (last) {
        shared->table->dispose(shared);
        thread = mr_enter();
        last = thread != NULL && add(&shared->weak, -1) == 1;
        if (thread != NULL) {
            mr_leave(thread);
        }
        if (last) {
            shared->table->destroy(shared);
        }
    }
}

static void run(void *argument)
{
    make_ready *self = argument;
    control *shared = self->control;
    mr_thread *thread = mr_enter();
    bool alive =
        thread != NULL && shared != NULL && __atomic_load_n(&shared->owners, __ATOMIC_RELAXED) > 0;
    if (alive) {
        before_run(thread, self);
    }
    if (thread != NULL) {
        mr_leave(thread);
    }
    real_run(argument);
    thread = alive ? mr_enter() : NULL;
    if (thread != NULL) {
        thread->quiet--;
        let_go(thread, shared);
    }
}

/* std::__future_base::_State_baseV2::_Make_ready::_M_set */
MR_EXPORT void _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv(make_ready *self);
void _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv(make_ready *self)
{
    MR_REAL(_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv)(self);
    if (mr_self != NULL) {
        real_run = self->run;
        self->run = run;
    }
}
