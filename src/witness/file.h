/*
 * file: a witness as a file. STD lines, readable as a trace by other tools, with a header:
 *
 *   #@witness 1                     format version
 *   #@trace NAME                    the trace it belongs to (for people)
 *   #@model value
 *   #@window START END              events before START happen as observed
 *   #@first EVENT LINE              the two accesses, event numbers and lines of the trace
 *   #@second EVENT LINE
 *   T1|acq(l)|12                    the reordering; its last two lines are the two accesses
 *   …
 *
 *   #@run 20 7310                   format 2: the events 20 to 7310, in this order
 *   #@kind NAME                     no race, but a finding of this kind (witness.h). The last lines are
 *                                   the events that are next: only `second`, or the acquires of a
 *                                   deadlock. memory-order, use-after-free, dangling and double-free
 *                                   need #@first
 *   #@freed EVENT LINE              dangling, double-free
 *   #@wait EVENT LINE               deadlock: a line for each acquire, in the order of the circle; there
 *                                   is no #@first and #@second
 *
 * Reading maps each line to the trace by program order: the k-th line of a thread is the k-th event
 * of that thread from START on, and must say the same operation, operand and location. All header
 * lines may be missing (a witness written by hand): then START is 0, END is just after the last
 * event used, the model is the one given, and the last two lines are the accesses.
 */
#ifndef MR_WITNESS_FILE_H
#define MR_WITNESS_FILE_H

#include "witness.h"

#include <stdio.h>

/* A witness of more events is written in format 2: where three or more consecutive ones follow each
 * other, a line says only so. */
enum { MR_WITNESS_MOST_LINES = 4096 };

/* Writes the witness; false when the stream reports an error. */
bool mr_witness_write(FILE *stream, const mr_trace *trace, const mr_witness *witness);

/*
 * Reads a witness of `trace` from `path` ("-": standard input). `default_model` is used when the
 * file names none; with `force_model` it is used always. On success the caller frees `witness`.
 * MR_ERR_TRACE with `file:line: …` when the file is not a witness of this trace, MR_ERR_IO,
 * MR_ERR_MEMORY.
 */
mr_status mr_witness_read(const char *path, const mr_trace *trace, mr_model default_model,
                          bool force_model, mr_witness *witness, mr_error *error);

#endif
