/* From a decision to what is reported: a race that the checker has accepted, or an unknown
 * candidate. */
#include "driver.h"

#include "witness/minimise.h"
#include "witness/pack.h"

#include <string.h>

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
    return MR_OK;
}

static mr_status record(mr_driver *driver, mr_witness *witness, mr_strength strength, mr_step step)
{
    mr_result *result = driver->result;
    void *races = result->races;
    const mr_trace *full = driver->reduction ? driver->reduction->full : driver->trace;
    if (result->race_count >= MR_DRIVER_WITNESSES_OPEN && !mr_witness_pack(full, witness))
        return mr_error_memory(driver->error, "recording a race");
    if (!mr_grow(&races, &result->race_capacity, result->race_count + 1, sizeof *result->races))
        return mr_error_memory(driver->error, "recording a race");
    result->races = races;
    result->races[result->race_count++] =
        (mr_race){.witness = *witness, .strength = strength, .confirmed_by = step};
    return MR_OK;
}

mr_status mr_driver_confirm_witness(mr_driver *driver, mr_witness *witness, mr_strength strength,
                                    mr_decision *decision, bool *accepted)
{
    double begin = mr_seconds();
    mr_error refusal;
    *accepted = false;
    mr_status status = driver->minimise ? mr_witness_minimise(driver->trace, &driver->opaque,
                                                              witness, driver->error)
                                        : MR_OK;
    if (status == MR_OK && driver->reduction)
        status = mr_reduction_expand(driver->reduction, witness, driver->error);
    if (status == MR_OK && driver->minimise)
        mr_witness_observe(witness);
    if (status == MR_OK) {
        status = mr_checker_check(driver->checker, witness, &refusal);
        if (status == MR_OK) {
            status =
                record(driver, witness, strength, driver->reduction ? MR_STEP_FAR : decision->step);
            *accepted = status == MR_OK;
        } else if (status == MR_ERR_INTERNAL) {
            driver->result->stats.rejected_witnesses++;
            decision->verdict = MR_VERDICT_UNKNOWN;
            decision->reason = MR_UNKNOWN_REJECTED;
            status = MR_OK;
        } else {
            *driver->error = refusal;
        }
    }
    if (!*accepted)
        mr_witness_free(witness);
    driver->result->run.witness_seconds += mr_seconds() - begin;
    return status;
}

mr_status mr_driver_confirm(mr_driver *driver, const mr_window *window, mr_strength strength,
                            mr_decision *decision, bool *accepted)
{
    mr_witness witness;
    *accepted = false;
    mr_status status = build(driver, window, decision, &witness);
    return status != MR_OK
               ? status
               : mr_driver_confirm_witness(driver, &witness, strength, decision, accepted);
}

mr_status mr_driver_note_unknown(mr_driver *driver, mr_ledger_entry *entry, const mr_window *window,
                                 uint32_t first, uint32_t second, mr_strength strength,
                                 const mr_decision *decision)
{
    mr_result *result = driver->result;
    void *unknowns = result->unknowns;
    if (entry->unknown)
        return MR_OK;
    if (!mr_grow(&unknowns, &result->unknown_capacity, result->unknown_count + 1,
                 sizeof *result->unknowns))
        return mr_error_memory(driver->error, "recording a candidate");
    result->unknowns = unknowns;
    entry->unknown = true;
    entry->unknown_index = (uint32_t)result->unknown_count;
    mr_unknown *unknown = &result->unknowns[result->unknown_count++];
    const uint32_t *full = driver->reduction ? driver->reduction->events : NULL;
    *unknown = (mr_unknown){.first = full ? full[first] : first,
                            .second = full ? full[second] : second,
                            .window_start = full ? full[window->start] : window->start,
                            .window_end = full ? full[window->end - 1] + 1 : window->end,
                            .strength = strength,
                            .reason = decision->reason};
    memcpy(unknown->detail, decision->detail, sizeof unknown->detail);
    return MR_OK;
}
