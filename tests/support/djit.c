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

/* Is the access racy? `now` holds what its thread knew before. */
static bool check(const run *r, uint32_t event, uint32_t number, const uint32_t *now)
{
    uint32_t variable = r->trace->operand[event], thread = r->trace->thread[event];
    uint32_t *writes = row(&r->last_write, variable), *reads = row(&r->last_read, variable);
    bool is_write = r->trace->op[event] == MR_OP_WRITE;
    bool racy =
        some_unknown(writes, now, r->threads) || (is_write && some_unknown(reads, now, r->threads));
    uint32_t *last = is_write ? writes : reads;
    last[thread] = number;
    return racy;
}

/* What the access makes its thread and its variable know. */
static void order_access(const run *r, uint32_t event, uint32_t *now)
{
    uint32_t variable = r->trace->operand[event], width = r->threads;
    uint32_t *write = row(&r->write, variable), *read = row(&r->read, variable);
    bool is_write = r->trace->op[event] == MR_OP_WRITE;
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

static void step(const run *r, mr_djit *djit, uint32_t event)
{
    uint32_t thread = r->trace->thread[event];
    uint32_t *now = row(&r->thread, thread);
    bool is_access = mr_op_is_access(r->trace->op[event]);
    memcpy(djit->known + (size_t)event * r->threads, now, r->threads * sizeof *now);
    djit->number[event] = now[thread] + 1;
    if (is_access)
        djit->racy[event] = check(r, event, djit->number[event], now);
    follow(r, event, now);
    now[thread] = djit->number[event];
    if (is_access)
        order_access(r, event, now);
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
    };
    *djit = (mr_djit){
        .trace = trace,
        .number = zeroed(trace->event_count, sizeof(uint32_t)),
        .known = zeroed((size_t)trace->event_count * threads, sizeof(uint32_t)),
        .racy = zeroed(trace->event_count, sizeof(bool)),
    };
    for (uint32_t event = 0; event < trace->event_count; event++)
        step(&r, djit, event);
    const clocks *const tables[] = {&r.thread, &r.lock,       &r.write,
                                    &r.read,   &r.last_write, &r.last_read};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        free(tables[i]->entries);
    free(r.depth);
}

void mr_djit_free(mr_djit *djit)
{
    free(djit->number);
    free(djit->known);
    free(djit->racy);
}

bool mr_djit_race(const mr_djit *djit, uint32_t first, uint32_t second)
{
    const mr_trace *trace = djit->trace;
    const uint8_t *op = trace->op;
    uint32_t thread = trace->thread[first];
    return mr_op_is_access(op[first]) && mr_op_is_access(op[second]) &&
           trace->operand[first] == trace->operand[second] && thread != trace->thread[second] &&
           (op[first] == MR_OP_WRITE || op[second] == MR_OP_WRITE) &&
           djit->known[(size_t)second * trace->threads.count + thread] < djit->number[first];
}
