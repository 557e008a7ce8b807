/*
 * observe: the errors that happened in the recorded execution (trace/observed.h), for reports of
 * orders. They are told from a trace in memory. A stream is watched for uses after a free, so that
 * only a trace with errors is loaded.
 *
 *   mr_watch_events* → mr_sweep_observe → mr_watch_free
 *
 * O(1) an event, and no time before the first free; 5 bytes an object and a variable.
 */
#ifndef MR_SWEEP_OBSERVE_H
#define MR_SWEEP_OBSERVE_H

#include "job.h"
#include "trace/events.h"

typedef struct mr_watch {
    uint32_t *object_of; /* by variable: its object plus 1; 0: none */
    size_t variable_capacity;
    bool *freed; /* by object */
    size_t object_capacity;
    bool frees; /* some object was freed */
    bool found; /* a variable of a freed object was accessed */
} mr_watch;

/* The next events of the stream. Zero-initialise before the first. False: no memory. */
bool mr_watch_events(mr_watch *watch, const mr_events *events);
void mr_watch_free(mr_watch *watch);

/* Fills `observed` of the result; loads the trace when there is an error and it is not in memory. A
 * file that cannot be read again gives `observed_untold`. MR_ERR_MEMORY, and as mr_sweep_load. */
mr_status mr_sweep_observe(const mr_sweep_job *job, const mr_watch *watch);

#endif
