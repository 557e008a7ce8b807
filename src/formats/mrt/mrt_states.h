/*
 * mrt_states: the STATE and FACTS chunks of an .mrt file, from a snapshot (trace/snapshot.h): what the writer writes,
 * and what a reader that goes through the whole file finds them to be.
 */
#ifndef MR_FORMATS_MRT_STATES_H
#define MR_FORMATS_MRT_STATES_H

#include "mrt_format.h"
#include "trace/fingerprint.h"
#include "trace/outlook.h"
#include "trace/snapshot.h"

/* The head of STATE for the block that was added last, and of FACTS after the last block, when the outlook is finished. */
mr_mrt_state_head mr_mrt_state_of(const mr_snapshot *snapshot);
mr_mrt_facts mr_mrt_facts_of(const mr_snapshot *snapshot, const mr_fingerprint *fingerprint,
                             const mr_outlook *outlook, const mr_trace *trace);

/* The parts of a STATE payload, in place. False: it has another size than it says. */
typedef struct mr_mrt_state_parts {
    mr_mrt_state_head head;
    const mr_open_section *open;
    const uint32_t *carried;
} mr_mrt_state_parts;

bool mr_mrt_state_read(mr_mrt_state_parts *parts, const mr_mrt_chunk *chunk,
                       const unsigned char *payload);

/* The same of FACTS. */
typedef struct mr_mrt_facts_parts {
    mr_mrt_facts head;
    const uint32_t *initial_values;
    const uint8_t *by_source;
} mr_mrt_facts_parts;

bool mr_mrt_facts_read(mr_mrt_facts_parts *parts, const mr_mrt_chunk *chunk,
                       const unsigned char *payload);

/* For a reader that goes through the whole file and asks whether the chunks are right. (The fingerprint is compared by
 * who uses it.) Zero-initialise. */
typedef struct mr_mrt_states {
    mr_snapshot snapshot;
    uint32_t seen;        /* STATE chunks */
    bool has_facts;       /* FACTS was seen; then: */
    uint32_t most_places; /*   what it says */
    /* The outlook of the file is not known before its end, so the events are not compared with it on the way
     * (mrt_check.h). Then it is made here. */
    bool lacks_outlook;
    mr_outlook outlook;
} mr_mrt_states;

void mr_mrt_states_free(mr_mrt_states *states);
/* A block with its value column (NULL: none). `outlook` is that of the file; NULL: lacks_outlook. False: no memory. */
bool mr_mrt_states_add(mr_mrt_states *states, const mr_trace *trace, const mr_events *events,
                       const uint32_t *value, const mr_outlook *outlook);
/* The STATE chunk of the block that was added last; the FACTS chunk. MR_ERR_TRACE (a text without place): it says
 * something else. */
mr_status mr_mrt_states_check(mr_mrt_states *states, const mr_mrt_chunk *chunk,
                              const unsigned char *payload, mr_error *error);
mr_status mr_mrt_states_check_facts(mr_mrt_states *states, const mr_trace *trace,
                                    const mr_mrt_chunk *chunk, const unsigned char *payload,
                                    mr_error *error);
/* After the last block: the rest of FACTS, and what lacks_outlook left to be compared. `outlook` is that of the file; NULL:
 * it has none. MR_ERR_TRACE, MR_ERR_MEMORY. */
mr_status mr_mrt_states_check_end(mr_mrt_states *states, const mr_trace *trace,
                                  const mr_outlook *outlook, mr_error *error);

#endif
