#include "model_log.h"

#include "record/log_reader.h"
#include "record/positions.h"
#include "runtime/inputs_format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNSEEN_BYTES = 160 };

/* A thread of the log. */
typedef struct member {
    uint32_t thread; /* in the model */
    uint32_t forks;
    uint32_t records; /* since its last operation … */
    uint32_t own;     /* … of which these are part of the next one, its last record left out */
    uint64_t state, stack_from, stack_to;
    uint64_t words[MR_EXPLORE_WORDS];
    uint32_t word_count;
    uint32_t sleeps_on; /* the condition variable; MR_PMODEL_NONE */
    bool has_state, is_asleep, is_timed, is_once, tries, ended;
} member;

typedef struct block {
    uint64_t address, bytes;
} block;

/* What is held: a key for lock and thread, and how often. */
typedef struct learning {
    mr_pmodel *model;
    mr_pmodel_run *run;
    mr_log_pass pass;
    mr_position_count count;
    member *members;
    size_t member_count, member_capacity;
    mr_map held;
    block *freed; /* when an access is watched */
    size_t freed_count, freed_capacity;
    uint32_t reader; /* the thread that gets inputs, MR_PMODEL_NONE: none yet */
    char *unseen;
    bool exited, failed, differs;
} learning;

static const uint64_t MAIN_STACK = 0x7ff000000000; /* the main thread's is above */

static member *member_of(learning *self, uint32_t number)
{
    if (!mr_grow((void **)&self->members, &self->member_capacity, number + (size_t)1,
                 sizeof *self->members)) {
        self->failed = true;
        return NULL;
    }
    for (; self->member_count <= number; self->member_count++)
        self->members[self->member_count] =
            (member){.thread = MR_PMODEL_NONE, .sleeps_on = MR_PMODEL_NONE};
    if (number == 0 && self->members[0].thread == MR_PMODEL_NONE) {
        self->members[0].thread = mr_pmodel_thread_of(self->model, MR_PMODEL_NONE, 0);
        self->members[0].stack_from = MAIN_STACK;
        self->members[0].stack_to = UINT64_MAX;
    }
    return &self->members[number];
}

static void name_unseen(learning *self, const char *what)
{
    if (!self->unseen[0])
        snprintf(self->unseen, UNSEEN_BYTES, "%s", what);
}

static uint32_t object_of(learning *self, mr_pmodel_role role, uint64_t address)
{
    uint32_t object = mr_pmodel_object_of(self->model, role, address);
    self->failed = self->failed || object == MR_PMODEL_NONE;
    return object;
}

static void take(learning *self, mr_pmodel_fit fit)
{
    self->failed = self->failed || fit == MR_PMODEL_MEMORY;
    self->differs = self->differs || fit == MR_PMODEL_DIFFERS;
}

/* Its local state, or a word of that. */
static void see_state(member *its, const uint64_t *record)
{
    uint32_t number = mr_log_count(record[1]);
    if (mr_log_detail(record[0]) != MR_LOG_STATE_WORD) {
        its->has_state = true;
        its->state = record[2];
    } else if (number == its->word_count && number < MR_EXPLORE_WORDS) {
        its->words[its->word_count++] = record[2];
    }
}

/* The operation of the thread is done. */
static void see(learning *self, member *its, mr_pmodel_event *event)
{
    uint32_t own = its->own + (event->op.kind != MR_PMODEL_EXIT);
    event->thread = its->thread;
    event->lead = its->records - own;
    event->records += own;
    event->has_state = its->has_state && mr_pmodel_is_access(event->op.kind);
    event->state = its->state;
    its->records = its->own = 0;
    event->words = its->words;
    event->word_count = its->word_count;
    its->has_state = false;
    its->word_count = 0;
    if (its->thread == MR_PMODEL_NONE)
        name_unseen(self, "a thread that nobody created");
    else if (!self->failed && !self->differs)
        take(self, mr_pmodel_see(self->model, self->run, event));
}

static void see_object(learning *self, member *its, const uint64_t *record, mr_pmodel_kind kind,
                       mr_pmodel_role role, uint32_t outcome)
{
    mr_pmodel_event event = {.op = {.kind = (uint8_t)kind,
                                    .object = object_of(self, role, mr_log_payload(record[0])),
                                    .code = mr_log_code(record[1])},
                             .outcome = outcome};
    see(self, its, &event);
}

/* ---- memory that was freed ---- */

static void note_freed(learning *self, uint64_t address, uint64_t bytes)
{
    if (!self->run->watched)
        return;
    if (!mr_grow((void **)&self->freed, &self->freed_capacity, self->freed_count + 1,
                 sizeof *self->freed))
        self->failed = true;
    else
        self->freed[self->freed_count++] = (block){address, bytes};
}

static void note_given(learning *self, uint64_t address, uint64_t bytes)
{
    size_t kept = 0;
    for (size_t i = 0; i < self->freed_count; i++) {
        const block *at = &self->freed[i];
        if (at->address + at->bytes <= address || address + bytes <= at->address)
            self->freed[kept++] = *at;
    }
    self->freed_count = kept;
}

static void watch(learning *self, uint64_t code, uint64_t address, uint64_t bytes)
{
    for (size_t i = 0; code == self->run->watched && i < self->freed_count; i++) {
        const block *at = &self->freed[i];
        self->run->uses_freed = self->run->uses_freed || (at->address < address + bytes &&
                                                          address < at->address + at->bytes);
    }
}

/* ---- accesses ---- */

static void see_access(learning *self, member *its, const uint64_t *record)
{
    unsigned kind = mr_log_kind_of(record[0]), bytes = mr_log_bytes(record[0]);
    uint64_t address = mr_log_payload(record[0]);
    int64_t value = kind == MR_LOG_ATOMIC_UPDATE ? (int64_t)record[2] : mr_log_value(record);
    bool writes = kind == MR_LOG_WRITE || kind == MR_LOG_ATOMIC_WRITE;
    mr_pmodel_event event = {.op = {.kind = writes                ? MR_PMODEL_WRITE
                                            : kind == MR_LOG_READ ? MR_PMODEL_READ
                                                                  : MR_PMODEL_UPDATE,
                                    .is_atomic = kind != MR_LOG_READ && kind != MR_LOG_WRITE,
                                    .is_once = its->is_once,
                                    .address = address,
                                    .bytes = bytes,
                                    .code = mr_log_code(record[1])},
                             .on_own_stack = address >= its->stack_from && address < its->stack_to,
                             .seen = writes ? NULL : &value,
                             .written = writes                         ? (const void *)&value
                                        : kind == MR_LOG_ATOMIC_UPDATE ? &record[3]
                                                                       : NULL};
    its->is_once = false;
    if (mr_log_is_ignored(record[0]))
        return; /* it is of no race */
    if (mr_log_detail(record[0]) & MR_LOG_NO_VALUE && kind == MR_LOG_WRITE)
        return; /* it did not happen any more */
    watch(self, event.op.code, address, bytes);
    see(self, its, &event);
}

static void see_range(learning *self, member *its, const uint64_t *record)
{
    bool writes = mr_log_kind_of(record[0]) == MR_LOG_RANGE_WRITE;
    uint64_t address = mr_log_payload(record[0]);
    mr_pmodel_event event = {.op = {.kind = writes ? MR_PMODEL_WRITE : MR_PMODEL_READ,
                                    .address = address,
                                    .bytes = (uint32_t)record[2],
                                    .code = mr_log_code(record[1])},
                             .on_own_stack = address >= its->stack_from && address < its->stack_to,
                             .seen = writes ? NULL : record + 3,
                             .written = writes ? record + 3 : NULL};
    if (record[2] == 0 || mr_log_is_ignored(record[0]))
        return;
    if (mr_log_detail(record[0]) & MR_LOG_NO_VALUE)
        name_unseen(self, "a copy of memory that is too large to be recorded");
    else {
        watch(self, event.op.code, address, record[2]);
        see(self, its, &event);
    }
}

static void see_memory(learning *self, member *its, const uint64_t *record, bool counts)
{
    bool heap = mr_log_detail(record[0]) != MR_LOG_MEMORY_STACK;
    uint64_t address = mr_log_payload(record[0]);
    if (mr_log_kind_of(record[0]) == MR_LOG_GIVEN) {
        if (!heap) {
            its->stack_from = address;
            its->stack_to = address + record[2];
        }
        note_given(self, address, record[2]);
        return;
    }
    if (!heap || !counts || record[2] == 0 || mr_log_count(record[1]) == MR_LOG_TAKEN_UNSEEN ||
        record[2] > UINT32_MAX)
        return;
    mr_pmodel_event event = {.op = {.kind = MR_PMODEL_FREE,
                                    .address = address,
                                    .bytes = (uint32_t)record[2],
                                    .code = mr_log_code(record[1])}};
    watch(self, event.op.code, address, record[2]);
    see(self, its, &event);
    note_freed(self, address, record[2]);
}

/* ---- locks ---- */

/* How often the thread holds the lock, after `change`. */
static uint32_t hold(learning *self, const member *its, uint32_t object, int change)
{
    uint32_t *count = mr_map_at(&self->held, mr_map_key(object, its->thread), 0);
    self->failed = self->failed || !count;
    if (!count)
        return 0;
    *count += change > 0 || *count ? (uint32_t)change : 0;
    return *count;
}

static void see_acquire(learning *self, member *its, const uint64_t *record, bool shared)
{
    uint32_t object = object_of(self, MR_PMODEL_IS_LOCK, mr_log_payload(record[0]));
    bool tries = (mr_log_count(record[1]) & MR_LOG_TRIED) != 0;
    if (mr_log_detail(record[0]) == MR_LOG_ROLE_OWN && record[2] != 0)
        name_unseen(self, "locks of bits of one word");
    if (self->failed)
        return;
    if (!shared && hold(self, its, object, 1) > 1)
        self->model->objects[object].is_recursive = true;
    see_object(self, its, record,
               shared ? (tries ? MR_PMODEL_TRY_SHARED : MR_PMODEL_LOCK_SHARED)
                      : (tries ? MR_PMODEL_TRY : MR_PMODEL_LOCK),
               MR_PMODEL_IS_LOCK, tries);
}

static void see_release(learning *self, member *its, const uint64_t *record, bool shared)
{
    uint32_t object = object_of(self, MR_PMODEL_IS_LOCK, mr_log_payload(record[0]));
    if (!shared)
        hold(self, its, object, -1);
    if (its->sleeps_on == MR_PMODEL_NONE) {
        see_object(self, its, record, shared ? MR_PMODEL_UNLOCK_SHARED : MR_PMODEL_UNLOCK,
                   MR_PMODEL_IS_LOCK, 0);
        return;
    }
    mr_pmodel_event event = {.op = {.kind = MR_PMODEL_SLEEP,
                                    .object = its->sleeps_on,
                                    .other = object,
                                    .code = mr_log_code(record[1])}};
    its->sleeps_on = MR_PMODEL_NONE;
    its->is_asleep = true;
    see(self, its, &event);
}

/* ---- semaphores, condition variables, barriers ---- */

static void see_wake(learning *self, member *its, const uint64_t *record, bool woken)
{
    mr_pmodel_event event = {
        .op = {.kind = MR_PMODEL_WAKE,
               .is_timed = its->is_timed,
               .object = object_of(self, MR_PMODEL_IS_CONDITION, mr_log_payload(record[0])),
               .code = mr_log_code(record[1])},
        .outcome = woken};
    its->is_asleep = its->is_timed = false;
    see(self, its, &event);
}

static void see_order(learning *self, member *its, const uint64_t *record)
{
    unsigned role = mr_log_detail(record[0]);
    if (role == MR_LOG_ROLE_SIGNAL)
        name_unseen(self, "signals");
    else if (role == MR_LOG_ROLE_CANCEL)
        its->records += 0; /* a cancellation point that nobody acted on, or named below */
    else
        see_object(self, its, record, MR_PMODEL_ORDER, MR_PMODEL_IS_ORDER, 0);
    if (role == MR_LOG_ROLE_CANCEL && mr_log_count(record[1]) != MR_LOG_NOT_CANCELLED)
        name_unseen(self, "cancelled threads");
}

static void see_post(learning *self, member *its, const uint64_t *record)
{
    unsigned role = mr_log_detail(record[0]);
    mr_pmodel_event event = {.op = {.kind = MR_PMODEL_POST,
                                    .other = mr_log_count(record[1]),
                                    .code = mr_log_code(record[1])}};
    if (role == MR_LOG_ROLE_SEMAPHORE) {
        event.op.object = object_of(self, MR_PMODEL_IS_SEMAPHORE, mr_log_payload(record[0]));
        see(self, its, &event);
    } else if (role == MR_LOG_ROLE_UNITS) {
        see_order(self, its, record);
    } else if (role == MR_LOG_ROLE_ASLEEP) {
        its->sleeps_on = object_of(self, MR_PMODEL_IS_CONDITION, mr_log_payload(record[0]));
    } else {
        its->records--; /* of a signal or a barrier, which has counted it */
    }
}

static void see_wait(learning *self, member *its, const uint64_t *record)
{
    unsigned role = mr_log_detail(record[0]);
    if (role == MR_LOG_ROLE_SEMAPHORE) {
        see_object(self, its, record, its->tries ? MR_PMODEL_TRY_WAIT : MR_PMODEL_WAIT,
                   MR_PMODEL_IS_SEMAPHORE, its->tries);
        its->tries = false;
    } else if (role == MR_LOG_ROLE_UNITS) {
        see_order(self, its, record);
    } else if (its->is_asleep && (role == MR_LOG_ROLE_WAKE || role == MR_LOG_ROLE_ASLEEP)) {
        see_wake(self, its, record, role == MR_LOG_ROLE_WAKE);
    } else if (role == MR_LOG_ROLE_BARRIER_OUT) {
        see_object(self, its, record, MR_PMODEL_PASS, MR_PMODEL_IS_BARRIER, 0);
    } else {
        its->records--;
    }
}

static void see_barrier(learning *self, member *its, const uint64_t *record, bool last)
{
    mr_pmodel_event event = {
        .op = {.kind = MR_PMODEL_ARRIVE,
               .object = object_of(self, MR_PMODEL_IS_BARRIER, mr_log_payload(record[0])),
               .other = (uint32_t)record[2],
               .code = mr_log_code(record[1])},
        .outcome = last,
        .records = !last           ? 1
                   : record[2] > 1 ? 2
                                   : 0};
    see(self, its, &event);
}

static void see_failed(learning *self, member *its, const uint64_t *record)
{
    switch (mr_log_detail(record[0])) {
    case MR_LOG_ROLE_MUTEX:
    case MR_LOG_ROLE_SPIN:
        see_object(self, its, record, MR_PMODEL_TRY, MR_PMODEL_IS_LOCK, 0);
        break;
    case MR_LOG_ROLE_RWLOCK:
        see_object(self, its, record, record[2] ? MR_PMODEL_TRY_SHARED : MR_PMODEL_TRY,
                   MR_PMODEL_IS_LOCK, 0);
        break;
    case MR_LOG_ROLE_SEMAPHORE:
        see_object(self, its, record, MR_PMODEL_TRY_WAIT, MR_PMODEL_IS_SEMAPHORE, 0);
        break;
    default:
        name_unseen(self, "a try that is not known");
    }
}

/* What the program got from outside. */
static void see_input(learning *self, const member *its, const uint64_t *record)
{
    enum { STANDARD_STREAMS = 3 };
    uint64_t kind = record[2];
    static const char *const names[MR_INPUT_KIND_COUNT] = {
        [MR_INPUT_WAIT] = "waits for descriptors",
        [MR_INPUT_CLOCK] = "clocks",
        [MR_INPUT_NUMBER] = "numbers of processes and threads",
        [MR_INPUT_ACCEPT] = "connections",
        [MR_INPUT_CONNECT] = "connections",
        [MR_INPUT_BIND] = "connections",
        [MR_INPUT_WRITE] = "connections",
        [MR_INPUT_CALL] = "answers of the system"};
    if (kind == MR_INPUT_CALL && mr_log_payload(record[0]) < STANDARD_STREAMS)
        return; /* libc asks what they are; nothing that the program sees depends on who asks first */
    if (kind >= MR_INPUT_KIND_COUNT || names[kind]) {
        name_unseen(self, kind < MR_INPUT_KIND_COUNT ? names[kind] : "inputs");
        return;
    }
    if (self->reader != MR_PMODEL_NONE && self->reader != its->thread)
        name_unseen(self, "files that several threads read");
    self->reader = its->thread;
}

static void see_choice(learning *self, member *its, const uint64_t *record)
{
    switch (mr_log_count(record[1])) {
    case MR_LOG_CHOICE_FAILED:
        see_failed(self, its, record);
        break;
    case MR_LOG_CHOICE_TRY:
        its->tries = true;
        its->own++; /* it is not there when the try fails, so it does not lead to the operation */
        break;
    case MR_LOG_CHOICE_SIGNAL:
        see_object(self, its, record, MR_PMODEL_SIGNAL, MR_PMODEL_IS_CONDITION, 0);
        break;
    case MR_LOG_CHOICE_BROADCAST:
        see_object(self, its, record, MR_PMODEL_BROADCAST, MR_PMODEL_IS_CONDITION, 0);
        break;
    case MR_LOG_CHOICE_TIMED:
        its->is_timed = true;
        break;
    case MR_LOG_CHOICE_ARRIVES:
    case MR_LOG_CHOICE_LAST:
        see_barrier(self, its, record, mr_log_count(record[1]) == MR_LOG_CHOICE_LAST);
        break;
    case MR_LOG_CHOICE_ONCE:
        its->is_once = true;
        break;
    case MR_LOG_CHOICE_INPUT:
        see_input(self, its, record);
        break;
    case MR_LOG_CHOICE_OPENMP:
        self->differs = true; /* what follows makes no sense in the model */
        snprintf(self->run->problem, sizeof self->run->problem,
                 "the mode cannot enumerate threads of OpenMP");
        break;
    default:
        name_unseen(self,
                    "what cannot be given to the program again (other processes, the system)");
    }
}

/* ---- objects that begin and end ---- */

static mr_pmodel_role role_of(unsigned role)
{
    switch (role) {
    case MR_LOG_ROLE_MUTEX:
    case MR_LOG_ROLE_SPIN:
    case MR_LOG_ROLE_RWLOCK:
    case MR_LOG_ROLE_OWN:
        return MR_PMODEL_IS_LOCK;
    case MR_LOG_ROLE_SEMAPHORE:
        return MR_PMODEL_IS_SEMAPHORE;
    case MR_LOG_ROLE_ASLEEP:
        return MR_PMODEL_IS_CONDITION;
    case MR_LOG_ROLE_BARRIER_IN:
        return MR_PMODEL_IS_BARRIER;
    default:
        return MR_PMODEL_IS_ORDER;
    }
}

static void see_retired(learning *self, member *its, const uint64_t *record)
{
    mr_pmodel_role role = role_of(mr_log_detail(record[0]));
    if (mr_log_count(record[1]) == MR_LOG_RETIRED_REFUSED)
        return;
    see_object(self, its, record, role == MR_PMODEL_IS_ORDER ? MR_PMODEL_ORDER : MR_PMODEL_RENEW,
               role, 0);
}

/* ---- threads ---- */

static void see_fork(learning *self, uint32_t number, const uint64_t *record)
{
    uint32_t nth = ++self->members[number].forks;
    uint32_t child = mr_pmodel_thread_of(self->model, self->members[number].thread, nth);
    if (record[2] > (uint64_t)MR_PMODEL_THREADS_MAX * 4 || child == MR_PMODEL_NONE) {
        name_unseen(self, "more threads than the mode has room for (64)");
        return;
    }
    if (!member_of(self, (uint32_t)record[2]))
        return;
    self->members[record[2]].thread = child;
    mr_pmodel_event event = {
        .op = {.kind = MR_PMODEL_FORK, .object = child, .code = mr_log_code(record[1])}};
    see(self, &self->members[number], &event);
}

static uint32_t thread_of(const learning *self, uint64_t number)
{
    return number < self->member_count ? self->members[number].thread : MR_PMODEL_NONE;
}

static void see_plain(learning *self, member *its, const uint64_t *record, mr_pmodel_kind kind)
{
    mr_pmodel_event event = {.op = {.kind = (uint8_t)kind, .code = mr_log_code(record[1])}};
    if (kind == MR_PMODEL_JOIN)
        event.op.object = thread_of(self, record[2]);
    if (event.op.object == MR_PMODEL_NONE)
        name_unseen(self, "a thread that nobody created");
    else
        see(self, its, &event);
}

static void see_exit(learning *self, member *its, const uint64_t *record)
{
    if (!self->exited &&
        !its->ended) /* else it was the last thread, and the process ends with it */
        see_plain(self, its, record, MR_PMODEL_EXIT);
    self->exited = true;
}

/* It waits: what for is known, though it did not happen. */
static void see_blocked(learning *self, const member *its, const uint64_t *record)
{
    unsigned role = mr_log_detail(record[0]), count = mr_log_count(record[1]);
    mr_pmodel_op op = {.code = mr_log_code(record[1])};
    mr_pmodel_role kind_of = MR_PMODEL_IS_LOCK;
    if (count == 2 || its->thread == MR_PMODEL_NONE || self->failed || self->differs)
        return;
    switch (role) {
    case MR_LOG_ROLE_MUTEX:
    case MR_LOG_ROLE_SPIN:
    case MR_LOG_ROLE_RWLOCK:
        op.kind = count == 1 ? MR_PMODEL_LOCK_SHARED : MR_PMODEL_LOCK;
        break;
    case MR_LOG_ROLE_SEMAPHORE:
        op.kind = MR_PMODEL_WAIT;
        kind_of = MR_PMODEL_IS_SEMAPHORE;
        break;
    case MR_LOG_ROLE_WAKE:
        op.kind = MR_PMODEL_WAKE;
        op.is_timed = its->is_timed;
        kind_of = MR_PMODEL_IS_CONDITION;
        break;
    case MR_LOG_ROLE_BARRIER_OUT:
        op.kind = MR_PMODEL_PASS;
        kind_of = MR_PMODEL_IS_BARRIER;
        break;
    default:
        op.object = thread_of(self, record[2]);
        if (role != MR_LOG_ROLE_NONE || !mr_log_payload(record[0]) || op.object == MR_PMODEL_NONE)
            return;
        op.kind = MR_PMODEL_JOIN;
    }
    if (op.kind != MR_PMODEL_JOIN)
        op.object = object_of(self, kind_of, mr_log_payload(record[0]));
    if (!self->failed)
        take(self, mr_pmodel_see_waiting(self->model, self->run, its->thread, &op));
}

/* ---- records ---- */

static void see_used(learning *self, member *its, const uint64_t *record)
{
    if (mr_log_detail(record[0]) == MR_LOG_ROLE_ASLEEP && !mr_log_count(record[1]))
        its->records--; /* of a signal that found nobody */
    else if (mr_log_detail(record[0]) == MR_LOG_ROLE_DESCRIPTOR)
        see_object(self, its, record, MR_PMODEL_ORDER, MR_PMODEL_IS_ORDER, 0);
}

static void handle(learning *self, member *its, const uint64_t *record, bool counts)
{
    switch (mr_log_kind_of(record[0])) {
    case MR_LOG_READ:
    case MR_LOG_WRITE:
    case MR_LOG_ATOMIC_READ:
    case MR_LOG_ATOMIC_WRITE:
    case MR_LOG_ATOMIC_UPDATE:
        see_access(self, its, record);
        break;
    case MR_LOG_RANGE_READ:
    case MR_LOG_RANGE_WRITE:
        see_range(self, its, record);
        break;
    case MR_LOG_STATE:
        see_state(its, record);
        break;
    case MR_LOG_CHOICE:
        see_choice(self, its, record);
        break;
    case MR_LOG_ACQUIRE:
    case MR_LOG_SHARED_ACQUIRE:
        see_acquire(self, its, record, mr_log_kind_of(record[0]) == MR_LOG_SHARED_ACQUIRE);
        break;
    case MR_LOG_RELEASE:
    case MR_LOG_SHARED_RELEASE:
        see_release(self, its, record, mr_log_kind_of(record[0]) == MR_LOG_SHARED_RELEASE);
        break;
    case MR_LOG_POST:
        see_post(self, its, record);
        break;
    case MR_LOG_WAIT:
        see_wait(self, its, record);
        break;
    case MR_LOG_RETIRED:
        see_retired(self, its, record);
        break;
    case MR_LOG_USED:
        see_used(self, its, record);
        break;
    case MR_LOG_BEFORE:
    case MR_LOG_AFTER:
        see_order(self, its, record);
        break;
    case MR_LOG_JOIN:
        see_plain(self, its, record, MR_PMODEL_JOIN);
        break;
    case MR_LOG_END:
        see_plain(self, its, record, MR_PMODEL_END);
        its->ended = true;
        break;
    case MR_LOG_EXIT:
        see_exit(self, its, record);
        break;
    case MR_LOG_BLOCKED:
        see_blocked(self, its, record);
        break;
    case MR_LOG_GIVEN:
    case MR_LOG_TAKEN:
        see_memory(self, its, record, counts);
        break;
    case MR_LOG_CALL_BEGIN:
        name_unseen(self, "calls whose inside is not recorded");
        break;
    case MR_LOG_SIGNAL_BEGIN:
        name_unseen(self, "signals");
        break;
    case MR_LOG_EXEC:
        name_unseen(self, "another program in the same process");
        break;
    default:
        break;
    }
}

static void learn(learning *self)
{
    const uint64_t *record;
    while (!self->failed && !self->differs && (record = mr_log_next(&self->pass)) != NULL) {
        unsigned kind = mr_log_kind_of(record[0]);
        uint32_t number = self->pass.thread;
        member *its = member_of(self, number);
        if (!its)
            return;
        if ((kind == MR_LOG_MODULE || kind == MR_LOG_UNLOAD) &&
            !mr_position_module_record(&self->count, record))
            self->failed = true;
        bool counts = mr_position_counts(&self->count, record);
        its->records += counts;
        if (kind == MR_LOG_FORK)
            see_fork(self, number, record);
        else
            handle(self, its, record, counts);
    }
    self->failed = self->failed || self->pass.failed;
}

/* The thread that ran last ended the process. */
static void see_death(learning *self)
{
    const uint64_t record[3] = {0, 0, 0};
    member *its = member_of(self, self->pass.thread);
    if (its && !self->failed && !self->differs)
        see_exit(self, its, record);
}

mr_status mr_model_log_learn(const char *path, bool died, mr_pmodel *model, mr_pmodel_run *run,
                             mr_model_log_end *end, char *unseen, mr_error *error)
{
    mr_log log;
    learning self = {.model = model, .run = run, .reader = MR_PMODEL_NONE, .unseen = unseen};
    unseen[0] = '\0';
    mr_status status = mr_log_open(&log, path, error);
    if (status)
        return status;
    mr_log_pass_init(&self.pass, &log);
    learn(&self);
    *end = self.exited                                 ? MR_MODEL_LOG_EXITED
           : log.header.state == MR_LOG_DEADLOCK       ? MR_MODEL_LOG_DEADLOCK
           : died || log.header.state == MR_LOG_EXITED ? MR_MODEL_LOG_DIED
                                                       : MR_MODEL_LOG_CUT;
    if (*end == MR_MODEL_LOG_DIED)
        see_death(&self);
    if (self.failed)
        status = mr_error_memory(error, "learning a run");
    mr_log_pass_free(&self.pass);
    mr_position_count_free(&self.count);
    mr_map_free(&self.held);
    free(self.members);
    free(self.freed);
    mr_log_close(&log);
    return status;
}
