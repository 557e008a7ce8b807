#include "order.h"

#include "wcp.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What is kept of an event of the window: its local time and its clocks. */
typedef struct label {
    mr_clock *clock; /* HB: H. WCP: P. */
    mr_clock *hard;  /* WCP: K */
    uint32_t local;
} label;

struct mr_order {
    const mr_trace *trace;
    mr_relation relation;
    mr_wcp wcp;                   /* HB uses wcp.hb alone */
    uint32_t start, end;          /* the window; the events before `end` have been fed */
    label *labels;                /* of the event start + i at labels[head + i] */
    size_t head, count, capacity; /* count includes the first `head`, which are gone */
};

mr_order *mr_order_new(const mr_trace *trace, mr_relation relation)
{
    mr_order *order = mr_calloc(1, sizeof *order);
    if (!order)
        return NULL;
    order->trace = trace;
    order->relation = relation;
    bool ok = relation == MR_RELATION_WCP ? mr_wcp_init(&order->wcp, trace)
                                          : mr_hb_init(&order->wcp.hb, trace);
    if (ok)
        return order;
    mr_order_free(order);
    return NULL;
}

static void forget(mr_order *order, size_t count)
{
    for (; count; count--) {
        label *old = &order->labels[order->head++];
        mr_clock_drop(&order->wcp.hb.pool, &old->clock);
        mr_clock_drop(&order->wcp.hb.pool, &old->hard);
    }
}

void mr_order_free(mr_order *order)
{
    if (!order)
        return;
    forget(order, order->count - order->head);
    free(order->labels);
    if (order->relation == MR_RELATION_WCP)
        mr_wcp_free(&order->wcp);
    else
        mr_hb_free(&order->wcp.hb);
    free(order);
}

static bool step(mr_order *order, uint32_t event)
{
    return order->relation == MR_RELATION_WCP ? mr_wcp_step(&order->wcp, event)
                                              : mr_hb_step(&order->wcp.hb, event);
}

/* The label of the event that has just been fed; `local` is its local time. */
static void add_label(mr_order *order, uint32_t thread, uint32_t local)
{
    const mr_wcp *wcp = &order->wcp;
    bool is_wcp = order->relation == MR_RELATION_WCP;
    order->labels[order->count++] = (label){
        .clock = mr_clock_share(is_wcp ? wcp->before[thread] : wcp->hb.clock[thread]),
        .hard = mr_clock_share(is_wcp ? wcp->hard[thread] : NULL),
        .local = local,
    };
}

/* Moves the window's start and makes room for its labels. */
static bool prepare(mr_order *order, uint32_t start, uint32_t end)
{
    size_t kept = order->count - order->head, gone = start - order->start;
    forget(order, gone < kept ? gone : kept);
    order->start = start;
    if (order->head * 2 > order->count) {
        order->count -= order->head;
        memmove(order->labels, order->labels + order->head, order->count * sizeof(label));
        order->head = 0;
    }
    void *labels = order->labels;
    if (!mr_grow(&labels, &order->capacity, order->head + (end - start), sizeof(label)))
        return false;
    order->labels = labels;
    return true;
}

mr_status mr_order_slide(mr_order *order, uint32_t start, uint32_t end, mr_error *error)
{
    assert(start >= order->start && end >= order->end && start <= end &&
           end <= order->trace->event_count);
    if (!prepare(order, start, end))
        return mr_error_memory(error, "ordering the events of a window");
    while (order->end < end) {
        uint32_t event = order->end, thread = order->trace->thread[event];
        uint32_t local = order->wcp.hb.local[thread];
        if (!step(order, event))
            return mr_error_memory(error, "ordering the events of a window");
        order->end++;
        if (event >= start)
            add_label(order, thread, local);
    }
    return MR_OK;
}

bool mr_order_ordered(const mr_order *order, uint32_t first, uint32_t second)
{
    assert(order->start <= first && first < second && second < order->end);
    uint32_t thread = order->trace->thread[first];
    if (thread == order->trace->thread[second])
        return true;
    const label *labels = order->labels + order->head;
    const label *after = &labels[second - order->start];
    uint32_t local = labels[first - order->start].local;
    return local <= mr_clock_get(after->clock, thread) ||
           local <= mr_clock_get(after->hard, thread);
}
