#include "beginning.h"

#include "base/memory.h"
#include "pointers.h"

#include <stdlib.h>

void mr_beginning_free(mr_beginning *beginning)
{
    free(beginning->held);
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

/* Ends at the unit, or where the first lock was acquired that is held. */
static void end(mr_beginning *beginning, uint64_t unit)
{
    beginning->has_ended = true;
    beginning->end = beginning->count ? beginning->held[0].unit : unit;
}

/* A lock that was not held, as far as is known, ends the beginning: another one may be held instead. */
static void release(mr_beginning *beginning, uint64_t unit, mr_beginning_lock lock)
{
    size_t at = beginning->count;
    while (at && (beginning->held[at - 1].head != lock.head ||
                  beginning->held[at - 1].number != lock.number))
        at--;
    if (!at) {
        end(beginning, unit);
        return;
    }
    beginning->count--;
    for (size_t i = at - 1; i < beginning->count; i++)
        beginning->held[i] = beginning->held[i + 1];
}

void mr_beginning_end(mr_beginning *beginning, const mr_log_pass *pass)
{
    if (!beginning->has_ended)
        end(beginning, pass->next - 1);
}

bool mr_beginning_note(mr_beginning *beginning, const mr_log_pass *pass, const uint64_t *record)
{
    uint64_t unit = pass->next - 1;
    if (beginning->has_ended)
        return true;
    switch (mr_log_kind_of(record[0])) {
    case MR_LOG_ACQUIRE:
    case MR_LOG_SHARED_ACQUIRE:
        return acquire(beginning, unit,
                       lock_of(record, mr_log_kind_of(record[0]) == MR_LOG_SHARED_ACQUIRE));
    case MR_LOG_RELEASE:
    case MR_LOG_SHARED_RELEASE:
        release(beginning, unit,
                lock_of(record, mr_log_kind_of(record[0]) == MR_LOG_SHARED_RELEASE));
        break;
    case MR_LOG_FORK:
        end(beginning, unit);
        break;
    default:
        break;
    }
    return true;
}

void mr_begun_access(mr_begun *begun, bool writes, uint64_t bytes, mr_settling_value value,
                     const mr_life *pointed)
{
    bool is_first = !begun->has_last;
    begun->is_odd = begun->is_odd || !value.is_known;
    if (is_first && !writes)
        begun->is_given =
            bytes == sizeof value.value && mr_pointers_may_be_address((uint64_t)value.value);
    else if (!writes)
        begun->is_odd = begun->is_odd || value.value != begun->last || pointed->dead ||
                        (pointed->number && pointed->number != begun->pointed);
    if (is_first || writes)
        begun->pointed = pointed->number;
    begun->writes += writes;
    begun->last = value.value;
    begun->has_last = true;
}
