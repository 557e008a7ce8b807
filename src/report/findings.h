/*
 * findings: what a prediction found beside races (docs/semantics.md 7), in reports; for the files of
 * src/report only.
 */
#ifndef MR_REPORT_FINDINGS_H
#define MR_REPORT_FINDINGS_H

#include "context.h"
#include "listing/listing.h"
#include "schedule_table.h"
#include "sees.h"

/* The members "memory", "deadlocks" and "pointers" of what was looked for, each with a comma behind it,
 * or "sees" when that was asked. MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_findings_dump(const mr_context *context, const mr_trace *trace,
                           const mr_config *config, const mr_result *result,
                           const mr_listing *listing, FILE *stream, mr_error *error);

/* A finding that is unknown, as an element of "unknown". */
mr_json mr_finding_unknown_object(const mr_trace *trace, const mr_finding_unknown *unknown);

/* The member "cycles", with a comma behind it: circles of locks that are no deadlock; nothing when they
 * were not asked for. MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_cycle_notes_dump(const mr_trace *trace, const mr_config *config,
                              const mr_result *result, FILE *stream, mr_error *error);
/* The same as lines. */
void mr_cycle_notes_print(const mr_trace *trace, const mr_result *result, FILE *stream);

/* Adds "findings" to the stats: for each kind that has candidates what became of them. */
void mr_findings_put_stats(mr_json *stats, const mr_result *result);

/* Prints the finding with its schedule. `number` counts those of its kind from 1. False: no memory. */
bool mr_finding_print(const mr_context *context, const mr_trace *trace, FILE *stream,
                      const mr_finding *finding, size_t number, size_t of, mr_sees *sees,
                      const mr_schedule_view *view);

/* "use of freed memory"; `many`: "uses of freed memory". */
const char *mr_finding_noun(mr_witness_kind kind, bool many);

/* ---- parts of a finding ---- */

/* The deref that the read of a null or dangling pointer or of a double free is about. */
uint32_t mr_finding_deref(const mr_trace *trace, const mr_witness *witness);

/* The acquire by which the thread of `holder`, at that event, holds the lock that `wait` acquires, in a
 * mode that excludes it. */
uint32_t mr_finding_held_since(const mr_trace *trace, uint32_t wait, uint32_t holder);

/* The wait after waits[i] in the circle. */
static inline uint32_t mr_finding_next_wait(const mr_witness *witness, uint32_t i)
{
    return witness->waits[(i + 1) % witness->wait_count];
}

#endif
