#include "carried.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *new_numbers(uint32_t count)
{
    uint32_t *numbers = mr_calloc(count, sizeof *numbers);
    if (numbers)
        memset(numbers, 0xff, count * sizeof *numbers); /* MR_NONE */
    return numbers;
}

/* How many shared sections are open at once, at most. O(events) when there are any. */
static uint32_t most_shared(const mr_trace *trace)
{
    uint32_t open = 0, most = 0;
    if (!mr_op_total(trace->op_counts, MR_SHARED))
        return 0;
    for (uint32_t i = mr_trace_present(trace, 0); i < trace->event_count;
         i = mr_trace_present(trace, i + 1)) {
        mr_trace_pass(trace, i);
        if (!mr_op_is_shared(trace->op[i]) || trace->link[i] == MR_NESTED)
            continue;
        if (mr_op_acquires(trace->op[i]))
            most = ++open > most ? open : most;
        else
            open--;
    }
    return most;
}

mr_status mr_carried_init(mr_carried *carried, const mr_trace *trace, mr_error *error)
{
    *carried = (mr_carried){.trace = trace};
    carried->open_acquire = new_numbers(trace->locks.count);
    carried->units = mr_calloc(trace->locks.count, sizeof *carried->units);
    carried->open_shared_capacity = most_shared(trace);
    carried->open_shared = new_numbers(carried->open_shared_capacity);
    carried->dense_thread = new_numbers(trace->threads.count);
    carried->dense_chain = new_numbers(trace->chain_count);
    carried->dense_variable = new_numbers(trace->variables.count);
    carried->dense_lock = new_numbers(trace->locks.count);
    if (carried->open_acquire && carried->open_shared && carried->units && carried->dense_thread &&
        carried->dense_chain && carried->dense_variable && carried->dense_lock)
        return MR_OK;
    mr_carried_free(carried);
    return mr_error_memory(error, "preparing the windows");
}

void mr_carried_free(mr_carried *carried)
{
    free(carried->open_acquire);
    free(carried->open_shared);
    free(carried->units);
    free(carried->dense_thread);
    free(carried->dense_chain);
    free(carried->dense_variable);
    free(carried->dense_lock);
    *carried = (mr_carried){0};
}

/* Shared sections mostly nest, so that the search is short. */
static void leave_shared(mr_carried *carried, uint32_t acquire)
{
    uint32_t *open = carried->open_shared;
    MR_ASSERT(carried->open_shared_count > 0);
    uint32_t i = carried->open_shared_count--;
    while (open[i - 1] != acquire) {
        i--;
        MR_ASSERT(i > 0); /* a shared section is left only where it is open */
    }
    memmove(open + i - 1, open + i, (carried->open_shared_count + 1 - i) * sizeof *open);
}

static void play(mr_carried *carried, uint32_t event)
{
    const mr_trace *trace = carried->trace;
    uint32_t operand = trace->operand[event];
    switch ((mr_op)trace->op[event]) {
    case MR_OP_ACQUIRE:
        if (trace->link[event] == MR_NESTED)
            break;
        MR_ASSERT(carried->open_acquire[operand] == MR_NONE);
        carried->open_acquire[operand] = event;
        break;
    case MR_OP_RELEASE:
        if (trace->link[event] == MR_NESTED)
            break;
        MR_ASSERT(carried->open_acquire[operand] == trace->link[event]);
        carried->open_acquire[operand] = MR_NONE;
        break;
    case MR_OP_SHARED_ACQUIRE:
        if (trace->link[event] == MR_NESTED)
            break;
        MR_ASSERT(carried->open_shared_count < carried->open_shared_capacity);
        carried->open_shared[carried->open_shared_count++] = event;
        break;
    case MR_OP_SHARED_RELEASE:
        if (trace->link[event] != MR_NESTED)
            leave_shared(carried, trace->link[event]);
        break;
    case MR_OP_POST:
        carried->units[operand]++;
        break;
    case MR_OP_WAIT:
        MR_ASSERT(carried->units[operand] > 0);
        carried->units[operand]--;
        break;
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
    case MR_OP_FORK:
    case MR_OP_JOIN:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_ALLOC:
    case MR_OP_FREE:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break;
    }
}

/* Accesses are the operations up to this one. */
enum { LAST_ACCESS = MR_OP_ATOMIC_UPDATE };
#define IS_ACCESS_IN_ORDER(with, name, text, kind, does)                                           \
    &&(((does) & (MR_READS | MR_WRITES)) != 0) == ((int)MR_OP_##name <= (int)LAST_ACCESS)
_Static_assert(1 MR_OP_MAP(IS_ACCESS_IN_ORDER, unused), "accesses are the smallest operations");
#undef IS_ACCESS_IN_ORDER

/* The first event from `event` on, and before `end`, that is no access. Most events are accesses, and
 * a window finds what it needs of them in links. */
static uint32_t skip_accesses(const uint8_t *ops, uint32_t event, uint32_t end)
{
    /* Added to an operation, sets the highest bit of its byte unless it is an access. */
    const uint64_t beyond = (0x80 - (LAST_ACCESS + 1)) * 0x0101010101010101u;
    const uint64_t high = 0x8080808080808080u;
    uint64_t word;
    while (event < end && end - event >= sizeof word) {
        memcpy(&word, ops + event, sizeof word);
        if ((word + beyond) & high)
            break;
        event += sizeof word;
    }
    while (event < end && ops[event] <= LAST_ACCESS)
        event++;
    return event;
}

void mr_carried_move(mr_carried *carried, uint32_t event)
{
    MR_REQUIRE(event <= carried->trace->event_count);
    if (event < carried->next) {
        const mr_trace *trace = carried->trace;
        memset(carried->open_acquire, 0xff, trace->locks.count * sizeof *carried->open_acquire);
        memset(carried->units, 0, trace->locks.count * sizeof *carried->units);
        carried->open_shared_count = 0;
        carried->next = 0;
    }
    const uint8_t *ops = carried->trace->op;
    uint32_t e = mr_trace_present(carried->trace, carried->next);
    for (e = skip_accesses(ops, e, event); e < event; e = skip_accesses(ops, e + 1, event))
        play(carried, e); /* what is not there reads as accesses */
    carried->next = event;
}

bool mr_carried_save(const mr_carried *carried, mr_carried_copy *copy, mr_arena *arena)
{
    uint32_t locks = carried->trace->locks.count, shared = carried->open_shared_count;
    *copy =
        (mr_carried_copy){.next = carried->next,
                          .open_shared_count = shared,
                          .open_acquire = mr_arena_alloc(arena, locks, sizeof *copy->open_acquire),
                          .open_shared = mr_arena_alloc(arena, shared, sizeof *copy->open_shared),
                          .units = mr_arena_alloc(arena, locks, sizeof *copy->units)};
    if (!copy->open_acquire || !copy->open_shared || !copy->units)
        return false;
    memcpy(copy->open_acquire, carried->open_acquire, locks * sizeof *copy->open_acquire);
    memcpy(copy->units, carried->units, locks * sizeof *copy->units);
    if (shared)
        memcpy(copy->open_shared, carried->open_shared, shared * sizeof *copy->open_shared);
    return true;
}

void mr_carried_restore(mr_carried *carried, const mr_carried_copy *copy)
{
    uint32_t locks = carried->trace->locks.count, shared = copy->open_shared_count;
    carried->next = copy->next;
    carried->open_shared_count = shared;
    memcpy(carried->open_acquire, copy->open_acquire, locks * sizeof *copy->open_acquire);
    memcpy(carried->units, copy->units, locks * sizeof *copy->units);
    if (shared)
        memcpy(carried->open_shared, copy->open_shared, shared * sizeof *copy->open_shared);
}
