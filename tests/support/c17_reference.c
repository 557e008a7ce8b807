#include "c17_reference.h"

typedef struct c17_reference {
    const mr_order_reference *orders;
    mr_order_matrix order;                /* transitive, reflexive */
    uint64_t before[MR_REFERENCE_EVENTS]; /* of each event: from where an edge leads to it, but for
                                             what it sees without synchronising */
} c17_reference;

static uint64_t bit(uint32_t event)
{
    return UINT64_C(1) << event;
}

static bool is_write(const mr_trace *trace, uint32_t e)
{
    return trace->op[e] == MR_OP_WRITE || trace->op[e] == MR_OP_ATOMIC_WRITE ||
           trace->op[e] == MR_OP_ATOMIC_UPDATE;
}

static bool is_read(const mr_trace *trace, uint32_t e)
{
    return trace->op[e] == MR_OP_READ || trace->op[e] == MR_OP_ATOMIC_READ ||
           trace->op[e] == MR_OP_ATOMIC_UPDATE;
}

static bool is_atomic(const mr_trace *trace, uint32_t e)
{
    return trace->op[e] == MR_OP_ATOMIC_READ || trace->op[e] == MR_OP_ATOMIC_WRITE ||
           trace->op[e] == MR_OP_ATOMIC_UPDATE;
}

static bool acquires(const mr_trace *trace, uint32_t e)
{
    mr_memory_order order = mr_trace_memory_order(trace, e);
    return order == MR_ORDER_ACQ || order == MR_ORDER_ACQREL || order == MR_ORDER_SC;
}

static bool releases(const mr_trace *trace, uint32_t e)
{
    mr_memory_order order = mr_trace_memory_order(trace, e);
    return order == MR_ORDER_REL || order == MR_ORDER_ACQREL || order == MR_ORDER_SC;
}

static uint32_t write_seen_by(const mr_trace *trace, uint32_t read)
{
    for (uint32_t w = read; w-- > 0;)
        if (is_write(trace, w) && trace->operand[w] == trace->operand[read])
            return w;
    return MR_NONE;
}

/* Is the write in the release sequence that the atomic write `head` would head? */
static bool is_in_sequence(const mr_trace *trace, uint32_t head, uint32_t write)
{
    for (uint32_t m = head + 1; m <= write; m++)
        if (is_write(trace, m) && trace->operand[m] == trace->operand[head] &&
            trace->thread[m] != trace->thread[head] && trace->op[m] != MR_OP_ATOMIC_UPDATE)
            return false;
    return true;
}

/* What synchronises with an acquire that sees the release sequence of the head: the head, and the
 * fences before it. */
static uint64_t sources_of(const mr_trace *trace, uint32_t head)
{
    uint64_t sources = releases(trace, head) ? bit(head) : 0;
    for (uint32_t f = 0; f < head; f++)
        if (trace->op[f] == MR_OP_FENCE && trace->thread[f] == trace->thread[head] &&
            releases(trace, f))
            sources |= bit(f);
    return sources;
}

/* What synchronises with an acquiring event at the read, or after it in its thread. */
static uint64_t sources_for(const mr_trace *trace, uint32_t read)
{
    uint32_t write =
        is_atomic(trace, read) && is_read(trace, read) ? write_seen_by(trace, read) : MR_NONE;
    uint64_t sources = 0;
    for (uint32_t head = 0; write != MR_NONE && head <= write; head++)
        if (is_atomic(trace, head) && is_write(trace, head) &&
            trace->operand[head] == trace->operand[read] && is_in_sequence(trace, head, write))
            sources |= sources_of(trace, head);
    return sources;
}

static void add_synchronisation(c17_reference *reference, const mr_trace *trace)
{
    for (uint32_t e = 0; e < trace->event_count; e++) {
        if (is_atomic(trace, e) && acquires(trace, e))
            reference->before[e] |= sources_for(trace, e);
        if (trace->op[e] != MR_OP_FENCE || !acquires(trace, e))
            continue;
        for (uint32_t read = 0; read < e; read++)
            if (trace->thread[read] == trace->thread[e])
                reference->before[e] |= sources_for(trace, read);
    }
}

/* Happens-before without atomic accesses: the edges of events that are not accesses, and into
 * accesses. */
static void add_others(c17_reference *reference)
{
    const mr_order_reference *orders = reference->orders;
    for (uint32_t e = 0; e < orders->trace->event_count; e++)
        reference->before[e] |= mr_reference_edges_into(orders, e);
}

static void close_order(c17_reference *reference, const mr_trace *trace)
{
    for (uint32_t e = 0; e < trace->event_count; e++) {
        uint32_t write = is_read(trace, e) ? write_seen_by(trace, e) : MR_NONE;
        uint64_t all = reference->before[e];
        if (write != MR_NONE && !(is_atomic(trace, e) && is_atomic(trace, write)))
            all |= bit(write);
        reference->order.rows[e] |= bit(e);
        for (uint32_t a = 0; a < e; a++) /* all edges lead from earlier to later events */
            if (reference->order.rows[a] & all)
                reference->order.rows[a] |= bit(e);
    }
}

void mr_c17_reference_build(mr_order_matrix *judged, const mr_order_reference *orders)
{
    c17_reference reference = {.orders = orders};
    uint32_t count = orders->trace->event_count;
    add_others(&reference);
    add_synchronisation(&reference, orders->trace);
    close_order(&reference, orders->trace);
    *judged = (mr_order_matrix){{0}};
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a + 1; b < count; b++)
            if (reference.order.rows[a] & reference.before[b])
                judged->rows[a] |= bit(b);
}
