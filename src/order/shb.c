#include "shb.h"

#include "hb.h"
#include "history.h"

#include <stdlib.h>

typedef struct shb {
    const mr_trace *trace;
    mr_hb hb; /* its clocks are the SHB clocks: reads join the time of the write they see */
    mr_time *last_write; /* by variable */
    mr_history history;
} shb;

void mr_shb_races_free(mr_shb_races *races)
{
    free(races->items);
    *races = (mr_shb_races){0};
}

static bool start(shb *state, const mr_trace *trace, mr_shb_races *races)
{
    *state = (shb){.trace = trace};
    state->last_write = mr_calloc(trace->variables.count, sizeof(mr_time));
    bool hb_ok = mr_hb_init(&state->hb, trace);
    bool history_ok = mr_history_init(&state->history, trace, races);
    return state->last_write && hb_ok && history_ok;
}

static void finish(shb *state)
{
    if (state->last_write)
        for (uint32_t variable = 0; variable < state->trace->variables.count; variable++)
            mr_clock_drop(&state->hb.pool, &state->last_write[variable].clock);
    free(state->last_write);
    mr_history_free(&state->history);
    mr_hb_free(&state->hb);
}

/* Before the access itself the thread's clock is that of the access's predecessor (Theorem 3.3). */
static bool access(shb *state, uint32_t event)
{
    mr_hb *hb = &state->hb;
    uint32_t variable = state->trace->operand[event], thread = state->trace->thread[event];
    if (!hb->sharing.variable_contended[variable])
        return true;
    if (!mr_history_add(&state->history, event, hb->clock[thread], hb->local[thread]))
        return false;
    mr_time *write = &state->last_write[variable];
    if (state->trace->op[event] == MR_OP_READ)
        return write->thread == thread || mr_clock_learn(&hb->pool, &hb->clock[thread], *write);
    mr_time_set(&hb->pool, write, mr_hb_now(hb, thread));
    hb->local[thread]++;
    return true;
}

mr_status mr_shb_find(const mr_trace *trace, mr_shb_races *races, mr_error *error)
{
    shb state;
    bool ok = start(&state, trace, races);
    for (uint32_t event = 0; ok && event < trace->event_count; event++)
        ok = mr_op_is_access(trace->op[event]) ? access(&state, event)
                                               : mr_hb_step(&state.hb, event);
    finish(&state);
    return ok ? MR_OK : mr_error_memory(error, "looking for SHB races");
}
