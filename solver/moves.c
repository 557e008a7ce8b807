#include "moves.h"

/* A number that no state has. */
enum { NEVER = UINT32_MAX - 1 };

/* Is there anything but locks and reads that its thread may have to wait for? */
static bool waits(const mr_window *w, uint32_t event)
{
    size_t edge = w->barrier_edge_count ? mr_window_barrier_edges_from(w, event) : 0;
    return (!w->position[event] && w->threads[w->thread[event]].fork != MR_NONE) ||
           (edge < w->barrier_edge_count && w->barrier_edges[edge].to == event) ||
           mr_window_end_of_life(w, event) != MR_NONE;
}

static uint32_t seen_by(const mr_window *w, uint32_t read)
{
    uint32_t value = mr_window_read_value(w, read);
    if (w->variables[w->object[read]].by_source)
        return w->source[read] + 1;
    return value ? value : NEVER;
}

static mr_move access_move(const mr_window *w, uint32_t event, const uint32_t *number_of)
{
    const mr_window_variable *variable = &w->variables[w->object[event]];
    uint8_t op = mr_window_op(w, event);
    bool reads = mr_op_reads(op) && variable->shared, writes = mr_op_writes(op);
    mr_move move = {.number = number_of[w->object[event]], .kind = MR_MOVE_FREE};
    if (move.number == MR_NONE) /* nobody reads it, or nobody else uses it */
        return move;
    if (reads)
        move.sees = seen_by(w, event);
    move.puts = writes;
    if (writes)
        move.put = variable->by_source ? event + 1 : mr_window_written_value(w, event);
    move.kind = reads && writes ? MR_MOVE_UPDATE
                : reads         ? MR_MOVE_READ
                : writes        ? MR_MOVE_WRITE
                                : MR_MOVE_FREE;
    return move;
}

static mr_move move_of(const mr_window *w, uint32_t event, const uint32_t *number_of)
{
    switch ((mr_op)mr_window_op(w, event)) {
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
        return access_move(w, event, number_of);
    case MR_OP_ACQUIRE:
    case MR_OP_SHARED_ACQUIRE:
        return (mr_move){.kind = mr_turns_entered(w, event) ? MR_MOVE_ENTER : MR_MOVE_FREE};
    case MR_OP_RELEASE:
    case MR_OP_SHARED_RELEASE:
    case MR_OP_FORK:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_ALLOC:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        return (mr_move){.kind = MR_MOVE_FREE};
    case MR_OP_JOIN:
    case MR_OP_POST:
    case MR_OP_WAIT:
    case MR_OP_FREE:
        break;
    }
    return (mr_move){.kind = MR_MOVE_OTHER};
}

/* The position after the release of the section that is entered at `position`, when it is a passing one; else 0. Later
 * positions are done. */
static uint32_t find_close(const mr_window *w, const mr_move *all, uint32_t position)
{
    const mr_section *section = mr_window_section(w, all[position].event);
    for (uint32_t p = position + 1;; p++) {
        switch ((mr_move_kind)all[p].kind) {
        case MR_MOVE_READ:
            break;
        case MR_MOVE_FREE: {
            const mr_section *left = mr_window_section(w, all[p].event);
            if (!left || left->release != all[p].event || !w->locks[left->lock].contended)
                break;
            return left == section ? p + 1 : 0;
        }
        case MR_MOVE_ENTER:
            if (!all[p].close)
                return 0;
            p = all[p].close - 1;
            break;
        case MR_MOVE_END:
        case MR_MOVE_WRITE:
        case MR_MOVE_UPDATE:
        case MR_MOVE_OTHER:
            return 0;
        }
    }
}

bool mr_moves_init(mr_moves *moves, const mr_turns *turns, const uint32_t *number_of,
                   mr_arena *arena)
{
    const mr_window *w = turns->window;
    *moves = (mr_moves){.window = w};
    moves->all = mr_arena_alloc(arena, (size_t)w->size + w->thread_count, sizeof *moves->all);
    for (uint32_t t = 0; t < w->thread_count && moves->all; t++) {
        uint32_t length = mr_window_length(w, t);
        mr_move *all = &moves->all[w->threads[t].first + t];
        all[length] = (mr_move){.event = MR_NONE, .turn = length, .kind = MR_MOVE_END};
        for (uint32_t p = length; p-- > 0;) {
            uint32_t event = mr_window_at(w, t, p);
            all[p] = move_of(w, event, number_of);
            all[p].event = event;
            if (waits(w, event))
                all[p].kind = MR_MOVE_OTHER;
            if (all[p].kind == MR_MOVE_ENTER)
                all[p].close = find_close(w, all, p);
            all[p].turn = mr_turns_event(turns, t, p);
            all[p].plain = all[p].kind != MR_MOVE_OTHER &&
                           (all[p].turn == p || (all[p].turn < length && all[p + 1].plain));
        }
    }
    return moves->all;
}
