/* huge: large tables on large pages, where the system has them on request: a page
 * fault for each 2 MiB instead of each 4 KiB, and fewer misses when a table is used at random. */
#ifndef MR_TRACE_HUGE_H
#define MR_TRACE_HUGE_H

#include <stddef.h>

/* Asks for large pages for memory from base/memory.h, of which those that were not written to so
 * far can become large; small memory is left alone. Nothing depends on the answer. */
void mr_huge_ask(void *memory, size_t bytes);

#endif
