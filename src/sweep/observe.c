#include "observe.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void mr_watch_free(mr_watch *watch)
{
    free(watch->object_of);
    free(watch->freed);
    *watch = (mr_watch){0};
}

/* Makes room for `count` items; new ones are zero. */
static bool widen(void **items, size_t *capacity, size_t count, size_t item_bytes)
{
    size_t before = *capacity;
    if (!mr_grow(items, capacity, count, item_bytes))
        return false;
    if (*capacity > before)
        memset((char *)*items + before * item_bytes, 0, (*capacity - before) * item_bytes);
    return true;
}

static bool learn(mr_watch *watch, const mr_events *events)
{
    void *object_of = watch->object_of, *freed = watch->freed;
    bool ok = widen(&freed, &watch->object_capacity, events->object_count, sizeof *watch->freed);
    watch->freed = freed;
    for (uint32_t i = 0; ok && i < events->member_count; i++) {
        const mr_membership *member = &events->members[i];
        ok = widen(&object_of, &watch->variable_capacity, (size_t)member->variable + 1,
                   sizeof *watch->object_of);
        watch->object_of = object_of;
        if (ok)
            watch->object_of[member->variable] = member->object + 1;
    }
    return ok;
}

static bool is_freed(const mr_watch *watch, uint32_t variable)
{
    uint32_t object = variable < watch->variable_capacity ? watch->object_of[variable] : 0;
    return object > 0 && object <= watch->object_capacity && watch->freed[object - 1];
}

bool mr_watch_events(mr_watch *watch, const mr_events *events)
{
    if (watch->found || !events->object_count)
        return true;
    if (!learn(watch, events))
        return false;
    for (uint32_t i = 0; i < events->count && !watch->found; i++) {
        uint8_t op = events->op[i];
        if (op == MR_OP_FREE)
            watch->freed[events->operand[i]] = watch->frees = true;
        else if (watch->frees && mr_op_is_access(op))
            watch->found = is_freed(watch, events->operand[i]);
    }
    return true;
}

mr_status mr_sweep_observe(const mr_sweep_job *job, const mr_watch *watch)
{
    mr_sweep *sweep = job->sweep;
    bool suspects = sweep->trace != NULL || watch->found || sweep->names->ending.misuse_count > 0;
    if (!suspects)
        return MR_OK;
    bool is_long = sweep->names->event_count > MR_NESTED;
    if (sweep->trace == NULL && (is_long || !mr_sweep_reads_again(job))) {
        sweep->result.observed_untold = true;
        return MR_OK;
    }
    mr_status status = mr_sweep_load(job, 0);
    if (status != MR_OK)
        return status;
    if (!mr_observed_find(&sweep->result.observed, sweep->trace))
        return mr_error_memory(job->error, "looking for errors that happened");
    if (sweep->result.observed.count == 0)
        return MR_OK;
    sweep->names = sweep->trace; /* the report of an error needs the columns … */
    if (!sweep->trace->lacks_values)
        return MR_OK;
    status = mr_sweep_read(job, 0, false, &sweep->valued); /* … and the values */
    if (sweep->valued != NULL && sweep->valued->event_count == sweep->trace->event_count)
        sweep->names = sweep->valued;
    return status == MR_ERR_TRACE ? MR_OK : status;
}
