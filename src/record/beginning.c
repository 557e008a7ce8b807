#include "beginning.h"

#include "base/memory.h"
#include "pointers.h"

#include <stdlib.h>

void mr_beginning_free(mr_beginning *beginning)
{
    free(beginning->held);
    free(beginning->ends);
    free(beginning->forks);
    *beginning = (mr_beginning){.count = 0};
}

/* What an acquire and its release have in common. */
static mr_beginning_lock lock_of(const uint64_t *record, bool shared)
{
    unsigned role = mr_log_detail(record[0]);
    return (mr_beginning_lock){.head = mr_log_head(shared, role, mr_log_payload(record[0])),
                               .number = record[2]};
}

static bool acquire(mr_beginning *beginning, uint64_t unit, mr_beginning_lock lock)
{
    void *held = beginning->held;
    if (!mr_grow(&held, &beginning->capacity, beginning->count + 1, sizeof *beginning->held))
        return false;
    beginning->held = held;
    lock.unit = unit;
    beginning->held[beginning->count++] = lock;
    return true;
}

/* The unit, or where the first lock was acquired that is held, or the limit. */
static uint64_t end_at(const mr_beginning *beginning, uint64_t unit)
{
    uint64_t end = beginning->count ? beginning->held[0].unit : unit;
    return beginning->is_limited && beginning->limit < end ? beginning->limit : end;
}

static void stop(mr_beginning *beginning, uint64_t unit)
{
    beginning->limit = end_at(beginning, unit);
    beginning->is_limited = true;
}

/* Of a lock that was not held, as far as is known: another one may be held instead. */
static void release(mr_beginning *beginning, uint64_t unit, mr_beginning_lock lock)
{
    size_t at = beginning->count;
    while (at && (beginning->held[at - 1].head != lock.head ||
                  beginning->held[at - 1].number != lock.number))
        at--;
    if (!at) {
        stop(beginning, unit);
        return;
    }
    beginning->count--;
    for (size_t i = at - 1; i < beginning->count; i++)
        beginning->held[i] = beginning->held[i + 1];
}

/* The thread starts another one. */
static bool start(mr_beginning *beginning, uint64_t unit, uint32_t thread, uint32_t other)
{
    void *ends = beginning->ends, *forks = beginning->forks;
    if (!mr_grow(&forks, &beginning->thread_capacity, other + 1ull, sizeof *beginning->forks))
        return false;
    beginning->forks = forks;
    while (beginning->thread_count <= other)
        beginning->forks[beginning->thread_count++] = 0;
    if (thread != beginning->first) {
        beginning->forks[other] = mr_beginning_fork(beginning, thread);
        return true;
    }
    if (!mr_grow(&ends, &beginning->fork_capacity, beginning->fork_count + 1,
                 sizeof *beginning->ends))
        return false;
    beginning->ends = ends;
    beginning->ends[beginning->fork_count++] = end_at(beginning, unit);
    beginning->forks[other] = (uint32_t)beginning->fork_count;
    return true;
}

void mr_beginning_stop(mr_beginning *beginning, const mr_log_pass *pass)
{
    stop(beginning, pass->next - 1);
}

void mr_beginning_distrust(mr_beginning *beginning)
{
    beginning->fork_count = 0;
}

bool mr_beginning_note(mr_beginning *beginning, const mr_log_pass *pass, const uint64_t *record)
{
    uint64_t unit = pass->next - 1;
    unsigned kind = mr_log_kind_of(record[0]);
    bool shared = kind == MR_LOG_SHARED_ACQUIRE || kind == MR_LOG_SHARED_RELEASE;
    if (!beginning->has_first)
        beginning->first = pass->thread;
    beginning->has_first = true;
    if (kind == MR_LOG_FORK)
        return record[2] > MR_LOG_THREADS_MAX ||
               start(beginning, unit, pass->thread, (uint32_t)record[2]);
    if (pass->thread != beginning->first)
        return true;
    if (kind == MR_LOG_ACQUIRE || kind == MR_LOG_SHARED_ACQUIRE)
        return acquire(beginning, unit, lock_of(record, shared));
    if (kind == MR_LOG_RELEASE || kind == MR_LOG_SHARED_RELEASE)
        release(beginning, unit, lock_of(record, shared));
    return true;
}

static void note(mr_begun *begun, const mr_begun_access *access)
{
    const mr_settling_value value = access->value;
    const mr_life *pointed = access->pointed;
    bool is_first = !begun->has_last, writes = access->writes;
    begun->is_odd = begun->is_odd || !value.is_known;
    if (is_first && !writes)
        begun->is_given = access->bytes == sizeof value.value &&
                          mr_pointers_may_be_address((uint64_t)value.value);
    else if (!writes)
        begun->is_odd = begun->is_odd || value.value != begun->last || pointed->dead ||
                        (pointed->number && pointed->number != begun->pointed);
    if (is_first || writes)
        begun->pointed = pointed->number;
    begun->writes += writes;
    begun->last = value.value;
    begun->has_last = true;
}

void mr_beginnings_access(mr_beginnings *beginnings, const mr_beginning *beginning,
                          const mr_log_pass *pass, const mr_begun_access *access)
{
    bool is_in = mr_beginning_has(beginning, pass);
    if (is_in && access)
        note(&beginnings->first, access);
    else if (is_in)
        beginnings->first.is_odd = true;
    if (beginnings->is_over)
        return;
    beginnings->last = pass->next;
    if (access)
        note(&beginnings->longest, access);
    if (!access || (!is_in && ((!access->writes && access->may_go) || access->is_held)))
        beginnings->longest.is_odd = true;
}

void mr_beginnings_meet(mr_beginnings *beginnings, uint32_t fork, bool accesses)
{
    beginnings->is_over = beginnings->is_over || accesses;
    beginnings->is_refused = beginnings->is_refused || !fork;
    if (!beginnings->fork || fork < beginnings->fork)
        beginnings->fork = fork;
}

static bool is_simple(const mr_begun *begun)
{
    return !begun->is_odd && !(begun->is_given && begun->writes);
}

bool mr_beginnings_settle(const mr_beginnings *beginnings, const mr_beginning *beginning,
                          uint64_t *end, uint32_t *writes)
{
    *end = mr_beginning_end(beginning, beginnings->fork);
    bool has_long =
        !beginnings->is_refused && beginnings->last < *end && is_simple(&beginnings->longest);
    *end = has_long ? *end : mr_beginning_end(beginning, 1);
    *writes = has_long ? beginnings->longest.writes : beginnings->first.writes;
    return has_long || is_simple(&beginnings->first);
}
