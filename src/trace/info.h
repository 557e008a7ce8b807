/*
 * info: what a trace contains, in numbers, for `maxrace info`.
 */
#ifndef MR_TRACE_INFO_H
#define MR_TRACE_INFO_H

#include "trace.h"

#include <stdio.h>

/* A critical section: from the outermost acquire (exclusive or shared) to its release. */
typedef struct mr_section {
    uint32_t lock;
    uint32_t acquire, release; /* events; both MR_NONE: there is no closed section */
} mr_section;

typedef struct mr_trace_info {
    uint64_t reads, writes; /* plain and atomic; an atomic update counts in both */
    uint64_t accesses_without_value;
    uint32_t shared_variables; /* accessed by two threads or more */
    uint64_t context_switches; /* events by another thread than the event before */
    mr_section longest;        /* the closed section with the most events of the trace from its
                                  acquire to its release; the first of equals */
    uint32_t deepest_nesting;  /* most sections that one thread has open at one time */
    uint32_t deepest_event;    /* the acquire that first gets there; MR_NONE: no lock is used */
    uint64_t open_sections;    /* acquired and never released */
} mr_trace_info;

/* Fills `info` in one pass over the trace, O(events + names). MR_ERR_MEMORY. */
mr_status mr_trace_info_compute(const mr_trace *trace, mr_trace_info *info, mr_error *error);

/* Writes the info and the counts of the trace itself, one fact a line, aligned. False: the stream
 * failed. */
bool mr_trace_info_print(FILE *stream, const mr_trace *trace, const mr_trace_info *info);

#endif
