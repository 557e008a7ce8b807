#include "order.h"

#include "base/assert.h"
#include "edges.h"

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
    const mr_outlook *outlook;
    mr_outlook own; /* when nobody gave one */
    mr_wcp wcp;     /* HB uses wcp.hb alone */
    mr_edges edges;
    uint32_t *touches;            /* WCP's hint, by variable */
    uint32_t start, end;          /* the window; the events before `end` have been fed */
    label *labels;                /* of the event start + i at labels[head + i] */
    size_t head, count, capacity; /* count includes the first `head`, which are gone */
};

static bool start_order(mr_order *order, const mr_trace *trace)
{
    uint32_t threads = trace->threads.count, locks = trace->locks.count;
    if (!mr_edges_grow(&order->edges, locks))
        return false;
    if (order->relation != MR_RELATION_WCP)
        return mr_hb_grow(&order->wcp.hb, threads, locks);
    order->touches = mr_calloc(trace->variables.count, sizeof(uint32_t));
    return order->touches && mr_wcp_grow(&order->wcp, threads, locks) &&
           mr_sections_foresee(&order->wcp.sections, order->outlook);
}

mr_order *mr_order_foreseen(const mr_trace *trace, mr_relation relation, const mr_outlook *outlook)
{
    mr_order *order = mr_calloc(1, sizeof *order);
    if (!order)
        return NULL;
    order->trace = trace;
    order->relation = relation;
    order->outlook = outlook ? outlook : &order->own;
    if ((outlook || mr_outlook_of_trace(&order->own, trace)) && start_order(order, trace))
        return order;
    mr_order_free(order);
    return NULL;
}

mr_order *mr_order_new(const mr_trace *trace, mr_relation relation)
{
    return mr_order_foreseen(trace, relation, NULL);
}

bool mr_order_use_edges(mr_order *order, const mr_barrier_edges *edges)
{
    MR_REQUIRE(!order->end);
    return mr_edges_foresee(&order->edges, edges);
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
    free(order->touches);
    mr_edges_free(&order->edges, &order->wcp);
    mr_wcp_free(&order->wcp);
    mr_outlook_free(&order->own);
    free(order);
}

static bool synchronise(mr_order *order, uint32_t event)
{
    const mr_trace *trace = order->trace;
    mr_op op = (mr_op)trace->op[event];
    uint32_t thread = trace->thread[event], operand = trace->operand[event];
    mr_hb *hb = &order->wcp.hb;
    if (order->relation == MR_RELATION_WCP)
        return mr_wcp_sync(&order->wcp, op, thread, operand);
    return mr_hb_sync(hb, op, thread, operand);
}

/* Applies the edges that end at the event itself: rule (a). */
static bool follow_rule_a(mr_order *order, const mr_access *access)
{
    const mr_wcp *wcp = &order->wcp;
    return order->relation != MR_RELATION_WCP || !order->outlook->contended[access->variable] ||
           !wcp->threads[access->thread].held.count ||
           mr_wcp_access(&order->wcp, access->thread, access->variable, access->op,
                         &order->touches[access->variable]);
}

/* The same for a free, a write of each variable of the object. */
static bool free_object(mr_order *order, const mr_access *access)
{
    const mr_trace *trace = order->trace;
    const mr_object_info *object = &trace->object_info[access->variable];
    mr_access write = *access;
    write.op = MR_OP_WRITE;
    for (uint32_t i = 0; i < object->variable_count; i++) {
        write.variable = trace->object_variables[object->first_variable + i];
        if (!follow_rule_a(order, &write))
            return false;
    }
    return true;
}

static bool step(mr_order *order, uint32_t event)
{
    const mr_trace *trace = order->trace;
    uint32_t thread = trace->thread[event], operand = trace->operand[event];
    mr_access this = {event, thread, operand, trace->location[event], trace->op[event], 0};
    switch ((mr_op)trace->op[event]) {
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
        return follow_rule_a(order, &this);
    case MR_OP_ACQUIRE:
    case MR_OP_RELEASE:
    case MR_OP_SHARED_ACQUIRE:
    case MR_OP_SHARED_RELEASE:
        return !order->outlook->lock_shared[operand] || trace->link[event] == MR_NESTED ||
               synchronise(order, event);
    case MR_OP_FORK:
    case MR_OP_JOIN:
        return synchronise(order, event);
    case MR_OP_FREE:
        return free_object(order, &this);
    case MR_OP_POST:
        return mr_edges_post(&order->edges, &order->wcp, thread, operand);
    case MR_OP_WAIT:
        return mr_edges_wait(&order->edges, &order->wcp, thread, operand);
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_ALLOC:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break;
    }
    return true;
}

/* Applies what counts only for the events after it: the edge into an atomic read, and what the
 * event publishes. */
static bool leave(mr_order *order, uint32_t event)
{
    const mr_trace *trace = order->trace;
    uint8_t op = trace->op[event];
    mr_access this = {event, trace->thread[event], trace->operand[event], 0, op, 0};
    uint32_t source = mr_op_reads(op) ? trace->link[event] : MR_NONE;
    if (mr_op_is_atomic(op)) {
        bool follows = source != MR_NONE && mr_op_is_atomic(trace->op[source]);
        if ((follows && !mr_edges_atomic_follow(&order->edges, &order->wcp, &this)) ||
            !mr_edges_atomic_publish(&order->edges, &order->wcp, &this))
            return false;
    }
    mr_edges_leave(&order->edges, &order->wcp, event, this.thread);
    return true;
}

/* The label of the event that has just been fed; `local` is its local time. */
static void add_label(mr_order *order, uint32_t thread, uint32_t local)
{
    const mr_wcp *wcp = &order->wcp;
    bool is_wcp = order->relation == MR_RELATION_WCP;
    MR_ASSERT(order->count < order->capacity);
    order->labels[order->count++] = (label){
        .clock =
            mr_clock_share(is_wcp ? wcp->threads[thread].before : wcp->hb.threads[thread].clock),
        .hard = mr_clock_share(is_wcp ? wcp->threads[thread].hard : NULL),
        .local = local,
    };
}

/* Moves the window's start and makes room for its labels. */
static bool prepare(mr_order *order, uint32_t start, uint32_t end)
{
    MR_ASSERT(order->head <= order->count);
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

/* Feeds the events that no window has, as far as later events depend on them. */
static bool pass_over(mr_order *order, uint32_t event)
{
    const mr_trace *trace = order->trace;
    uint32_t thread = trace->thread[event];
    uint8_t op = trace->op[event];
    bool edges = mr_edges_next(&order->edges) == event;
    if (edges && !mr_edges_enter(&order->edges, &order->wcp, event, thread))
        return false;
    if ((mr_op_gives(op) || mr_op_takes(op)) && !step(order, event))
        return false;
    if (edges)
        mr_edges_leave(&order->edges, &order->wcp, event, thread);
    return true;
}

static bool has_queues(const mr_order *order)
{
    return mr_op_total(order->trace->op_counts, MR_GIVES | MR_TAKES) > 0;
}

/* Does the event begin or end an outermost section that counts? */
static bool bounds_section(const mr_order *order, uint32_t event)
{
    const mr_trace *trace = order->trace;
    uint8_t op = trace->op[event];
    return (mr_op_acquires(op) || mr_op_releases(op)) &&
           order->outlook->lock_shared[trace->operand[event]] && trace->link[event] != MR_NESTED;
}

/* The last point up to `event` at which no thread is in a section; the end when there is none. */
static uint32_t last_quiet(const mr_order *order, uint32_t event)
{
    uint32_t quiet = order->end;
    size_t open = mr_wcp_open_sections(&order->wcp);
    for (uint32_t at = order->end; at < event; at++) {
        if (bounds_section(order, at))
            open += mr_op_acquires(order->trace->op[at]) ? 1 : (size_t)-1;
        quiet = open ? quiet : at + 1;
    }
    return quiet;
}

/* WCP passes over the events before `event`. */
static bool forget_sections(mr_order *order, uint32_t event)
{
    const mr_trace *trace = order->trace;
    mr_wcp_forget(&order->wcp);
    memset(order->touches, 0, trace->variables.count * sizeof order->touches[0]);
    for (uint32_t at = order->end; at < event; at++)
        if (mr_op_releases(trace->op[at]) && bounds_section(order, at) &&
            !mr_sections_miss(&order->wcp.sections, trace->operand[at], trace->thread[at]))
            return false;
    return true;
}

mr_status mr_order_skip(mr_order *order, uint32_t event, mr_error *error)
{
    enum { FORGET_PARTS = 8 }; /* to forget a name costs this part of an event, or less */
    bool is_wcp = order->relation == MR_RELATION_WCP;
    uint32_t names = order->trace->variables.count + order->trace->locks.count;
    MR_REQUIRE(event >= order->end);
    forget(order, order->count - order->head);
    order->count = order->head = 0;
    if (is_wcp) {
        event = last_quiet(order, event);
        if (event - order->end < names / FORGET_PARTS)
            event = order->end;
        if (event > order->end && !forget_sections(order, event))
            return mr_error_memory(error, "ordering the events of a window");
    }
    if (!has_queues(order) && mr_edges_next(&order->edges) >= event)
        order->end = event;
    for (; order->end < event; order->end++)
        if (!pass_over(order, order->end))
            return mr_error_memory(error, "ordering the events of a window");
    order->start = event;
    return MR_OK;
}

uint32_t mr_order_start(const mr_order *order)
{
    return order->start;
}

uint32_t mr_order_end(const mr_order *order)
{
    return order->end;
}

mr_status mr_order_slide(mr_order *order, uint32_t start, uint32_t end, mr_error *error)
{
    MR_REQUIRE(start >= order->start && end >= order->end && start <= end &&
               end <= order->trace->event_count);
    if (!prepare(order, start, end))
        return mr_error_memory(error, "ordering the events of a window");
    while (order->end < end) {
        uint32_t event = order->end, thread = order->trace->thread[event];
        uint32_t local = order->wcp.hb.threads[thread].local;
        if ((mr_edges_next(&order->edges) == event &&
             !mr_edges_enter(&order->edges, &order->wcp, event, thread)) ||
            !step(order, event))
            return mr_error_memory(error, "ordering the events of a window");
        order->end++;
        if (event >= start)
            add_label(order, thread, local);
        if (!leave(order, event))
            return mr_error_memory(error, "ordering the events of a window");
    }
    MR_ASSERT(order->count - order->head == end - start); /* a label for each event */
    return MR_OK;
}

uint32_t mr_order_local(const mr_order *order, uint32_t event)
{
    MR_REQUIRE(order->start <= event && event < order->end);
    return order->labels[order->head + (event - order->start)].local;
}

bool mr_order_knows(const mr_order *order, uint32_t first, uint32_t local, uint32_t second)
{
    MR_REQUIRE(first < second && order->start <= second && second < order->end);
    uint32_t thread = order->trace->thread[first];
    if (thread == order->trace->thread[second])
        return true;
    const label *after = &order->labels[order->head + (second - order->start)];
    return local <= mr_clock_get(after->clock, thread) ||
           local <= mr_clock_get(after->hard, thread);
}

bool mr_order_ordered(const mr_order *order, uint32_t first, uint32_t second)
{
    return mr_order_knows(order, first, mr_order_local(order, first), second);
}
