#include "derefs.h"

#include "base/keys.h"

#include <stdlib.h>
#include <string.h>

typedef struct finder {
    const mr_trace *trace;
    mr_derefs *out;
    bool *is_used;     /* by variable: some deref names it */
    uint32_t *pending; /* by thread: the read of a deref that was its last event, or MR_NONE */
    mr_keys readers;   /* (thread, variable) */
    mr_u32s last_read; /* by reader */
    uint8_t *uses;     /* by event of the trace; NULL until there is a use */
    mr_keys alike;     /* word by word: thread, variable, place, uses */
    mr_u32s number;    /* by key: item + 1 */
} finder;

static bool mark_variables(finder *f)
{
    const mr_trace *trace = f->trace;
    bool any = false;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        mr_trace_pass(trace, e);
        if (trace->op[e] == MR_OP_DEREF && !trace->variable_info[trace->operand[e]].by_source)
            any = f->is_used[trace->operand[e]] = true;
    }
    return any;
}

/* The thread goes on after a deref. */
static void settle(finder *f, uint32_t thread, bool frees)
{
    uint32_t read = f->pending[thread];
    if (read != MR_NONE)
        f->uses[read] |= frees ? MR_DEREF_FREE : MR_DEREF_ACCESS;
    f->pending[thread] = MR_NONE;
}

static bool look(finder *f, uint32_t event)
{
    const mr_trace *trace = f->trace;
    uint32_t thread = trace->thread[event], x = trace->operand[event], reader;
    uint8_t op = trace->op[event];
    settle(f, thread, op == MR_OP_FREE);
    bool reads = mr_op_reads(op), uses = op == MR_OP_DEREF;
    if ((!reads && !uses) || !f->is_used[x])
        return true;
    if (!mr_keys_add(&f->readers, (uint64_t)thread << 32 | x, &reader))
        return false;
    while (f->last_read.count <= reader)
        if (!mr_u32s_push(&f->last_read, MR_NONE))
            return false;
    if (reads)
        f->last_read.items[reader] = event;
    else
        f->pending[thread] = f->last_read.items[reader];
    return true;
}

static bool pass(finder *f)
{
    const mr_trace *trace = f->trace;
    memset(f->pending, 0xff, trace->threads.count * sizeof *f->pending); /* MR_NONE */
    for (uint32_t e = 0; e < trace->event_count; e++) {
        mr_trace_pass(trace, e);
        if (!look(f, e))
            return false;
    }
    for (uint32_t t = 0; t < trace->threads.count; t++)
        settle(f, t, false);
    return true;
}

/* The item of the read, made when it is new. */
static bool item_of(finder *f, uint32_t read, uint32_t *item)
{
    const mr_trace *trace = f->trace;
    const uint32_t words[] = {trace->thread[read], trace->operand[read], trace->location[read],
                              f->uses[read]};
    uint32_t key = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!mr_keys_add(&f->alike, (uint64_t)key << 32 | words[i], &key))
            return false;
    while (f->number.count <= key)
        if (!mr_u32s_push(&f->number, 0))
            return false;
    mr_derefs *out = f->out;
    if (!f->number.items[key]) {
        if (!mr_grow((void **)&out->items, &out->capacity, out->count + 1, sizeof *out->items))
            return false;
        out->items[out->count++] =
            (mr_deref_reads){.variable = words[1], .place = words[2], .uses = f->uses[read]};
        f->number.items[key] = (uint32_t)out->count;
    }
    *item = f->number.items[key] - 1;
    return true;
}

static bool collect(finder *f)
{
    mr_derefs *out = f->out;
    mr_u32s item = {0}, event = {0};
    bool ok = true;
    for (uint32_t e = 0; ok && e < f->trace->event_count; e++) {
        uint32_t number;
        if (f->uses[e])
            ok = item_of(f, e, &number) && mr_u32s_push(&item, number) && mr_u32s_push(&event, e);
    }
    out->events = ok ? mr_calloc(event.count + 1, sizeof *out->events) : NULL;
    ok = out->events != NULL;
    for (size_t i = 0; ok && i < event.count; i++)
        out->items[item.items[i]].count++;
    for (size_t i = 0, next = 0; ok && i < out->count; i++) {
        out->items[i].first = (uint32_t)next;
        next += out->items[i].count;
        out->items[i].count = 0;
    }
    for (size_t i = 0; ok && i < event.count; i++) {
        mr_deref_reads *reads = &out->items[item.items[i]];
        out->events[reads->first + reads->count++] = event.items[i];
    }
    mr_u32s_free(&item);
    mr_u32s_free(&event);
    return ok;
}

bool mr_derefs_find(mr_derefs *derefs, const mr_trace *trace)
{
    *derefs = (mr_derefs){0};
    if (!trace->op_counts[MR_OP_DEREF])
        return true;
    finder f = {.trace = trace, .out = derefs};
    f.is_used = mr_calloc((size_t)trace->variables.count + 1, sizeof *f.is_used);
    f.pending = mr_calloc((size_t)trace->threads.count + 1, sizeof *f.pending);
    bool ok = f.is_used && f.pending;
    if (ok && mark_variables(&f)) {
        f.uses = mr_calloc((size_t)trace->event_count + 1, sizeof *f.uses);
        ok = f.uses && pass(&f) && collect(&f);
    }
    free(f.is_used);
    free(f.pending);
    free(f.uses);
    mr_keys_free(&f.readers);
    mr_keys_free(&f.alike);
    mr_u32s_free(&f.last_read);
    mr_u32s_free(&f.number);
    return ok;
}

void mr_derefs_free(mr_derefs *derefs)
{
    free(derefs->items);
    free(derefs->events);
    *derefs = (mr_derefs){0};
}
