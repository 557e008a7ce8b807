/* trace_reading: short calls for tests that read traces. */
#ifndef MR_TESTS_TRACE_READING_H
#define MR_TESTS_TRACE_READING_H

#include "trace/trace.h"

enum { MR_TEST_LINE_SIZE = 1200 };

/* Reads `text` under the name "t"; the current test fails with the message when it is refused. */
mr_trace *mr_test_read(const char *text, bool repair);

/* The message with which `text` is refused, "OK" when it is not. Returns `buffer`. */
const char *mr_test_refusal(const char *text, char buffer[MR_TEST_LINE_SIZE]);

/* "thread|op(operand)|location" of an event; returns `buffer`. */
const char *mr_test_event(const mr_trace *trace, uint32_t event, char buffer[MR_TEST_LINE_SIZE]);

/* A temporary file with these bytes; the caller unlinks and frees the path. */
char *mr_test_file(const void *bytes, size_t count);

#endif
