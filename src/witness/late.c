#include "late.h"

#include "base/assert.h"
#include "base/memory.h"
#include "minimise.h"
#include "pack.h"

#include <stdlib.h>
#include <string.h>

/* A copy of the witness of a race, with events of its own. False: no memory. */
static bool open_copy(const mr_trace *trace, const mr_witness *witness, mr_witness *copy)
{
    MR_REQUIRE(!witness->wait_count);
    if (mr_witness_open(trace, witness, copy) == copy)
        return true;
    if (witness->packed)
        return false;
    uint32_t *events = mr_calloc(witness->event_count, sizeof *events);
    if (!events)
        return false;
    if (witness->event_count)
        memcpy(events, witness->events, witness->event_count * sizeof *events);
    *copy = *witness;
    copy->events = events;
    copy->waits = NULL;
    return true;
}

mr_status mr_witness_shorten_late(const mr_trace *trace, const mr_barrier_edges *opaque,
                                  mr_checker *checker, mr_witness *witness, bool *refused,
                                  mr_error *error)
{
    mr_witness copy;
    mr_error refusal;
    *refused = false;
    if (!open_copy(trace, witness, &copy))
        return mr_error_memory(error, "shortening a witness");
    mr_status status = mr_witness_minimise(trace, opaque, &copy, error);
    if (status == MR_OK) {
        status = mr_checker_check(checker, &copy, &refusal);
        if (status != MR_OK && status != MR_ERR_INTERNAL)
            *error = refusal;
    }
    if (status == MR_OK && witness->packed && !mr_witness_pack(trace, &copy))
        status = mr_error_memory(error, "shortening a witness");
    if (status == MR_OK) {
        mr_witness_free(witness);
        *witness = copy;
    } else {
        mr_witness_free(&copy);
    }
    *refused = status == MR_ERR_INTERNAL;
    return *refused ? MR_OK : status;
}

const mr_witness *mr_witness_open_long(const mr_trace *trace, mr_opaque calls,
                                       const mr_witness *witness, mr_witness *room)
{
    mr_error error;
    bool refused; /* then the long one is shown */
    mr_barrier_edges edges = {0};
    mr_checker *checker = mr_checker_new(trace, calls);
    mr_status status =
        checker ? mr_barrier_edges_find(trace, calls, &edges, &error) : MR_ERR_MEMORY;
    *room = (mr_witness){0};
    if (status == MR_OK && !open_copy(trace, witness, room))
        status = MR_ERR_MEMORY;
    if (status == MR_OK)
        status = mr_witness_shorten_late(trace, &edges, checker, room, &refused, &error);
    mr_barrier_edges_free(&edges);
    mr_checker_free(checker);
    return status == MR_OK ? room : NULL;
}
