/*
 * steps: the events that a picture of a finding shows, in both orders: as observed, and as the witness has
 * them; for the files of src/report only.
 *
 * The observed side has the events of the trace from the first to the last event of the witness, when
 * they are no more than `most`; else only those of the witness. The other side has the witness, then
 * both accesses. Of a finding that happened, there is only the observed side: the events before it.
 */
#ifndef MR_REPORT_STEPS_H
#define MR_REPORT_STEPS_H

#include "listing/listing.h"
#include "sees.h"

typedef struct mr_step_list {
    uint32_t *events; /* owned */
    uint32_t *seen;   /* owned; the write that each read sees, or MR_NONE */
    size_t count;
} mr_step_list;

typedef struct mr_steps {
    mr_step_list observed, witness;
    size_t left_out; /* events of the witness before the first one that is shown */
} mr_steps;

/* At most `most` events on each side: of a longer witness the last ones. False: no memory. Free in every
 * case. */
bool mr_steps_make(mr_steps *steps, const mr_listed *finding, const mr_trace *trace, mr_sees *sees,
                   size_t most);
void mr_steps_free(mr_steps *steps);

#endif
