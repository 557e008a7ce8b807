#include "djit.h"

#include <stdlib.h>
#include <string.h>

/* A table of clocks, one a row. */
typedef struct clocks {
    uint32_t *entries;
    uint32_t width;
} clocks;

typedef struct run {
    const mr_trace *trace;
    mr_relation relation;
    uint32_t threads;
    clocks thread, lock, write, read, last_write, last_read;
    uint32_t *depth; /* by lock */
    /* by object: what its alloc knew; of its free the event + 1, and its number */
    clocks alloc;
    uint32_t *freed, *free_number;
    clocks old_write, old_read; /* shb: last accesses before the free, and the free */
} run;

static void *zeroed(size_t count, size_t size_bytes)
{
    void *items = calloc(count + 1, size_bytes);
    if (!items)
        abort();
    return items;
}

static clocks make(uint32_t rows, uint32_t width)
{
    return (clocks){zeroed((size_t)rows * width, sizeof(uint32_t)), width};
}

static uint32_t *row(const clocks *table, uint32_t number)
{
    return table->entries + (size_t)number * table->width;
}

static void join(uint32_t *target, const uint32_t *source, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        if (source[i] > target[i])
            target[i] = source[i];
}

static bool some_unknown(const uint32_t *last, const uint32_t *known, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        if (last[i] > known[i])
            return true;
    return false;
}

/* Does the thread know the free of the variable's object? */
static bool knows_free(const run *r, uint32_t variable, uint32_t thread, const uint32_t *now)
{
    uint32_t object = mr_trace_object(r->trace, variable);
    if (object == MR_NONE || !r->freed[object])
        return false;
    uint32_t by = r->trace->thread[r->freed[object] - 1];
    return by == thread || r->free_number[object] <= now[by];
}

/* Is a read or a write of the variable racy? `now` holds what its thread knew before. */
static bool check(const run *r, uint32_t event, uint32_t variable, uint32_t number, bool is_write,
                  const uint32_t *now)
{
    uint32_t thread = r->trace->thread[event];
    uint32_t *writes = row(&r->last_write, variable), *reads = row(&r->last_read, variable);
    bool racy =
        some_unknown(writes, now, r->threads) || (is_write && some_unknown(reads, now, r->threads));
    if (!knows_free(r, variable, thread, now))
        racy |= some_unknown(row(&r->old_write, variable), now, r->threads) ||
                (is_write && some_unknown(row(&r->old_read, variable), now, r->threads));
    uint32_t *last = is_write ? writes : reads;
    last[thread] = number;
    return racy;
}

/* Rule 7 in shb: what was before the free counts as long as that is not known. */
static void end_life(const run *r, uint32_t variable)
{
    size_t bytes = r->threads * sizeof(uint32_t);
    uint32_t *writes = row(&r->last_write, variable), *reads = row(&r->last_read, variable);
    memcpy(row(&r->old_write, variable), writes, bytes);
    memcpy(row(&r->old_read, variable), reads, bytes);
    memset(writes, 0, bytes);
    memset(reads, 0, bytes);
}

/* What the access makes its thread and its variable know. */
static void order_access(const run *r, uint32_t variable, bool is_write, uint32_t *now)
{
    uint32_t width = r->threads;
    uint32_t *write = row(&r->write, variable), *read = row(&r->read, variable);
    if (r->relation == MR_RELATION_FHB) {
        join(now, write, width);
        if (is_write)
            join(now, read, width);
        join(is_write ? write : read, now, width);
    } else if (r->relation == MR_RELATION_SHB && is_write) {
        memcpy(write, now, width * sizeof *now);
    } else if (r->relation == MR_RELATION_SHB) {
        join(now, write, width);
    }
}

/* Before the event counts itself. */
static void follow(const run *r, uint32_t event, uint32_t *now)
{
    uint32_t operand = r->trace->operand[event];
    if (r->trace->op[event] == MR_OP_ACQUIRE && !r->depth[operand]++)
        join(now, row(&r->lock, operand), r->threads);
    if (r->trace->op[event] == MR_OP_JOIN)
        join(now, row(&r->thread, operand), r->threads);
}

static void lead(const run *r, uint32_t event, const uint32_t *now)
{
    uint32_t operand = r->trace->operand[event];
    if (r->trace->op[event] == MR_OP_RELEASE && !--r->depth[operand])
        memcpy(row(&r->lock, operand), now, r->threads * sizeof *now);
    if (r->trace->op[event] == MR_OP_FORK)
        join(row(&r->thread, operand), now, r->threads);
}

/* A free: a write of each variable of the object, that no read sees. All are checked first; of what
 * fhb adds to what the thread knows, each variable is to have all. */
static bool free_object(const run *r, uint32_t event, uint32_t number, uint32_t *now)
{
    uint32_t object = r->trace->operand[event];
    bool racy = false;
    for (uint32_t x = 0; x < r->trace->variables.count; x++)
        if (mr_trace_object(r->trace, x) == object)
            racy |= check(r, event, x, number, true, now);
    r->freed[object] = event + 1;
    r->free_number[object] = number;
    now[r->trace->thread[event]] = number;
    for (int twice = 0; twice < 2; twice++)
        for (uint32_t x = 0; x < r->trace->variables.count; x++) {
            if (mr_trace_object(r->trace, x) != object)
                continue;
            if (r->relation == MR_RELATION_FHB)
                order_access(r, x, true, now);
            if (r->relation == MR_RELATION_SHB && !twice)
                end_life(r, x);
        }
    return racy;
}

static void step(const run *r, mr_djit *djit, uint32_t event)
{
    const mr_trace *trace = r->trace;
    uint32_t thread = trace->thread[event], operand = trace->operand[event], object = MR_NONE;
    uint32_t *now = row(&r->thread, thread);
    bool is_access = mr_op_is_access(trace->op[event]), is_write = trace->op[event] == MR_OP_WRITE;
    djit->number[event] = now[thread] + 1;
    if (is_access)
        object = mr_trace_object(trace, operand);
    if (trace->op[event] == MR_OP_FREE)
        object = operand;
    if (object != MR_NONE) /* an edge that counts for the event itself */
        join(now, row(&r->alloc, object), r->threads);
    memcpy(djit->known + (size_t)event * r->threads, now, r->threads * sizeof *now);
    if (is_access)
        djit->racy[event] = check(r, event, operand, djit->number[event], is_write, now);
    follow(r, event, now);
    if (trace->op[event] == MR_OP_FREE)
        djit->racy[event] = free_object(r, event, djit->number[event], now);
    now[thread] = djit->number[event];
    if (is_access)
        order_access(r, operand, is_write, now);
    if (trace->op[event] == MR_OP_ALLOC)
        memcpy(row(&r->alloc, operand), now, r->threads * sizeof *now);
    lead(r, event, now);
}

void mr_djit_build(mr_djit *djit, const mr_trace *trace, mr_relation relation)
{
    uint32_t threads = trace->threads.count, variables = trace->variables.count;
    run r = {
        .trace = trace,
        .relation = relation,
        .threads = threads,
        .thread = make(threads, threads),
        .lock = make(trace->locks.count, threads),
        .write = make(variables, threads),
        .read = make(variables, threads),
        .last_write = make(variables, threads),
        .last_read = make(variables, threads),
        .depth = zeroed(trace->locks.count, sizeof(uint32_t)),
        .alloc = make(trace->objects.count, threads),
        .freed = zeroed(trace->objects.count, sizeof(uint32_t)),
        .free_number = zeroed(trace->objects.count, sizeof(uint32_t)),
        .old_write = make(variables, threads),
        .old_read = make(variables, threads),
    };
    *djit = (mr_djit){
        .trace = trace,
        .relation = relation,
        .number = zeroed(trace->event_count, sizeof(uint32_t)),
        .known = zeroed((size_t)trace->event_count * threads, sizeof(uint32_t)),
        .racy = zeroed(trace->event_count, sizeof(bool)),
    };
    for (uint32_t event = 0; event < trace->event_count; event++)
        step(&r, djit, event);
    const clocks *const tables[] = {&r.thread,    &r.lock,  &r.write,     &r.read,    &r.last_write,
                                    &r.last_read, &r.alloc, &r.old_write, &r.old_read};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        free(tables[i]->entries);
    free(r.depth);
    free(r.freed);
    free(r.free_number);
}

void mr_djit_free(mr_djit *djit)
{
    free(djit->number);
    free(djit->known);
    free(djit->racy);
}

/* The object whose variable the event accesses, or which it frees; MR_NONE: none. */
static uint32_t object_of(const mr_trace *trace, uint32_t event)
{
    if (trace->op[event] == MR_OP_FREE)
        return trace->operand[event];
    return mr_op_is_access(trace->op[event]) ? mr_trace_object(trace, trace->operand[event])
                                             : MR_NONE;
}

/* Do they conflict, but for their threads? */
static bool conflict(const mr_trace *trace, uint32_t first, uint32_t second)
{
    const uint8_t *op = trace->op;
    uint32_t object = object_of(trace, first);
    if (op[first] == MR_OP_FREE || op[second] == MR_OP_FREE)
        return object != MR_NONE && object == object_of(trace, second);
    return mr_op_is_access(op[first]) && mr_op_is_access(op[second]) &&
           trace->operand[first] == trace->operand[second] &&
           (op[first] == MR_OP_WRITE || op[second] == MR_OP_WRITE);
}

static bool is_known(const mr_djit *djit, uint32_t first, uint32_t second)
{
    const mr_trace *trace = djit->trace;
    uint32_t thread = trace->thread[first];
    return thread == trace->thread[second] ||
           djit->known[(size_t)second * trace->threads.count + thread] >= djit->number[first];
}

bool mr_djit_race(const mr_djit *djit, uint32_t first, uint32_t second)
{
    const mr_trace *trace = djit->trace;
    if (!conflict(trace, first, second) || is_known(djit, first, second))
        return false;
    for (uint32_t e = first + 1; djit->relation == MR_RELATION_SHB && e < second; e++)
        if (trace->op[e] == MR_OP_FREE && trace->operand[e] == object_of(trace, first) &&
            is_known(djit, e, second))
            return false; /* rule 7 */
    return true;
}
