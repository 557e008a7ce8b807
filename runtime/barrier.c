/* Barriers are the runtime's own; those that processes share are left to the real functions, and logged as an order: who leaves comes
 * after all who came by then. */
#include "explore.h"
#include "real.h"
#include "scheduler.h"
#include "steer.h"
#include "sys.h"
#include "writer.h"

#include <errno.h>

typedef struct barrier {
    pthread_barrier_t *address; /* NULL: free */
    unsigned count;
    unsigned arrived;
    uint64_t use;
    struct barrier *next;
} barrier;

static barrier *barriers;
static uint64_t next_use; /* beyond those of all barriers that were destroyed or made anew */

/* Numbers of uses are not used again: a thread may still leave the last one. */
static void end_uses(const barrier *entry)
{
    uint64_t next = entry->use + (entry->arrived > 0);
    next_use = next > next_use ? next : next_use;
}

static barrier *find(const pthread_barrier_t *address)
{
    barrier *at = barriers;
    while (at != NULL && at->address != address) {
        at = at->next;
    }
    return at;
}

/* Room for one more: a free entry, or a page of them. */
static barrier *make(void)
{
    barrier *free_entry = find(NULL);
    if (free_entry != NULL) {
        return free_entry;
    }
    barrier *page = mr_pages(4096);
    for (size_t i = 0; page != NULL && i < 4096 / sizeof *page; i++) {
        page[i].next = barriers;
        barriers = &page[i];
    }
    return barriers;
}

MR_EXPORT int pthread_barrier_init(pthread_barrier_t *restrict address,
                                   const pthread_barrierattr_t *restrict attributes, unsigned count)
{
    int shared = PTHREAD_PROCESS_PRIVATE;
    mr_thread *thread = mr_enter();
    int status = MR_REAL(pthread_barrier_init)(address, attributes, count);
    if (thread == NULL) {
        return status;
    }
    if (attributes != NULL) {
        pthread_barrierattr_getpshared(attributes, &shared);
    }
    if (status == 0 && shared == PTHREAD_PROCESS_PRIVATE) {
        barrier *known = find(address);
        barrier *entry = known != NULL ? known : make();
        if (known != NULL) {
            end_uses(known);
        }
        if (entry != NULL) {
            *entry =
                (barrier){.address = address, .count = count, .use = next_use, .next = entry->next};
        }
        mr_write_object(MR_LOG_RETIRED, MR_LOG_ROLE_BARRIER_IN, address, MR_CALLER,
                        MR_LOG_RETIRED_INITIALISED, 0);
    }
    mr_leave(thread);
    return status;
}

MR_EXPORT int pthread_barrier_destroy(pthread_barrier_t *address)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(pthread_barrier_destroy)(address);
    }
    barrier *entry = find(address);
    if (entry != NULL) {
        end_uses(entry);
        entry->address = NULL;
        mr_write_object(MR_LOG_RETIRED, MR_LOG_ROLE_BARRIER_IN, address, MR_CALLER,
                        MR_LOG_RETIRED_DESTROYED, 0);
    }
    int status = MR_REAL(pthread_barrier_destroy)(address);
    mr_leave(thread);
    return status;
}

/* Threads that are blocked have the use as their number: a key alone could be of a later use. */
static void wait_for_others(mr_thread *thread, barrier *entry, uintptr_t code)
{
    uint64_t use = entry->use;
    mr_write_object(MR_LOG_POST, MR_LOG_ROLE_BARRIER_IN, entry->address, code, 1, use);
    while (entry->use == use) {
        mr_write_object(MR_LOG_BLOCKED, MR_LOG_ROLE_BARRIER_OUT, entry->address, code, 0, use);
        if (mr_block(thread, entry, MR_NEVER, false) == MR_INTERRUPTED) {
            mr_attend(thread);
        }
    }
}

static void log_units(mr_log_kind kind, mr_log_role role, const barrier *entry, uintptr_t code)
{
    for (unsigned left = entry->count - 1; left > 0;) {
        unsigned units = left < 65535 ? left : 65535;
        mr_write_object(kind, role, entry->address, code, units, entry->use);
        left -= units;
    }
}

MR_EXPORT int pthread_barrier_wait(pthread_barrier_t *address)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(pthread_barrier_wait)(address);
    }
    barrier *entry = find(address);
    int status = 0;
    if (entry == NULL) {
        mr_write_object(MR_LOG_BEFORE, MR_LOG_ROLE_NONE, address, MR_CALLER, 0, 0);
        mr_outside_begin(thread);
        status = MR_REAL(pthread_barrier_wait)(address);
        mr_outside_end(thread);
        mr_write_object(MR_LOG_AFTER, MR_LOG_ROLE_NONE, address, MR_CALLER, 0, 0);
        mr_leave(thread);
        return status;
    }
    mr_yield(thread);
    bool is_last = ++entry->arrived >= entry->count;
    mr_explore_choice(is_last ? MR_LOG_CHOICE_LAST : MR_LOG_CHOICE_ARRIVES, MR_LOG_ROLE_BARRIER_IN,
                      address, MR_CALLER, entry->count);
    if (!is_last) {
        uint64_t use = entry->use;
        wait_for_others(thread, entry, MR_CALLER);
        if (mr_steers()) {
            mr_steer_stop(thread, MR_STOP_CALL);
        }
        mr_write_object(MR_LOG_WAIT, MR_LOG_ROLE_BARRIER_OUT, address, MR_CALLER, 1, use);
    } else {
        log_units(MR_LOG_WAIT, MR_LOG_ROLE_BARRIER_IN, entry, MR_CALLER);
        log_units(MR_LOG_POST, MR_LOG_ROLE_BARRIER_OUT, entry, MR_CALLER);
        entry->arrived = 0;
        entry->use++;
        mr_wake_key(entry);
        status = PTHREAD_BARRIER_SERIAL_THREAD;
    }
    mr_leave(thread);
    return status;
}
