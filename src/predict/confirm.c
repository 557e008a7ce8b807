/* From a decision to a race that the checker has accepted. */
#include "driver.h"

#include "witness/minimise.h"

#include <stdlib.h>

/* The decision's window events as event numbers of the trace, owned by the witness. */
static mr_status build(mr_driver *driver, const mr_window *window, const mr_decision *decision,
                       mr_witness *witness)
{
    *witness = (mr_witness){.first = window->start + decision->first,
                            .second = window->start + decision->second,
                            .window_start = window->start,
                            .window_end = window->end,
                            .model = driver->model,
                            .event_count = decision->event_count,
                            .events = mr_calloc(decision->event_count, sizeof(uint32_t))};
    if (!witness->events)
        return mr_error_memory(driver->error, "building a witness");
    for (uint32_t i = 0; i < decision->event_count; i++)
        witness->events[i] = window->start + decision->events[i];
    return driver->minimise ? mr_witness_minimise(driver->trace, witness, driver->error) : MR_OK;
}

static mr_status record(mr_driver *driver, const mr_witness *witness, mr_strength strength,
                        mr_step step)
{
    mr_result *result = driver->result;
    void *races = result->races;
    if (!mr_grow(&races, &result->race_capacity, result->race_count + 1, sizeof *result->races))
        return mr_error_memory(driver->error, "recording a race");
    result->races = races;
    result->races[result->race_count++] =
        (mr_race){.witness = *witness, .strength = strength, .confirmed_by = step};
    return MR_OK;
}

mr_status mr_driver_confirm(mr_driver *driver, const mr_window *window, mr_strength strength,
                            const mr_decision *decision, bool *accepted)
{
    double begin = mr_seconds();
    mr_witness witness;
    mr_error refusal;
    *accepted = false;
    mr_status status = build(driver, window, decision, &witness);
    if (status == MR_OK) {
        status = mr_checker_check(driver->checker, &witness, &refusal);
        if (status == MR_OK) {
            status = record(driver, &witness, strength, decision->step);
            *accepted = status == MR_OK;
        } else if (status == MR_ERR_INTERNAL) {
            driver->result->stats.rejected_witnesses++;
            status = MR_OK;
        } else {
            status = mr_error_memory(driver->error, "checking a witness");
        }
    }
    if (!*accepted)
        mr_witness_free(&witness);
    driver->result->stats.witness_seconds += mr_seconds() - begin;
    return status;
}
