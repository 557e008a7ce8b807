/* sample: a trace written in a test. */
#ifndef MR_TESTS_SUPPORT_SAMPLE_H
#define MR_TESTS_SUPPORT_SAMPLE_H

#include "trace/trace.h"

/* Reads a valid trace from text, owned by the caller. NULL after printing the reader's error. */
mr_trace *mr_sample_trace(const char *text);

#endif
