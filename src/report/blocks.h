/*
 * blocks: the memory that a finding is about, and the errors that happened in the recorded execution
 * (trace/observed.h), in reports; for the files of src/report only.
 */
#ifndef MR_REPORT_BLOCKS_H
#define MR_REPORT_BLOCKS_H

#include "context.h"
#include "listing/listing.h"
#include "trace/observed.h"

/* The lines about the object that the event uses: its size, where it was allocated and freed;
 * nothing when it belongs to none. */
void mr_block_print(const mr_context *context, const mr_trace *trace, FILE *stream, uint32_t event);
/* The same, as the member "block". */
void mr_block_put(const mr_context *context, const mr_trace *trace, mr_json *self, uint32_t event);

void mr_observed_print_one(const mr_context *context, const mr_trace *trace, FILE *stream,
                           const mr_observed_list *list, size_t index);
void mr_observed_print(const mr_context *context, const mr_trace *trace, FILE *stream,
                       const mr_observed_list *list);
/* The same, as the member "observed", followed by a comma; nothing when there is no error. With
 * `findings` (may be NULL), what they have of each, and no suppressed one. MR_ERR_MEMORY. */
mr_status mr_observed_dump(const mr_context *context, const mr_trace *trace,
                           const mr_observed_list *list, const mr_listing *findings, FILE *stream,
                           mr_error *error);

#endif
