/* mrt_bytes: .mrt files in memory for tests: made, changed with right checksums, read, compared. */
#ifndef MR_TESTS_SUPPORT_MRT_BYTES_H
#define MR_TESTS_SUPPORT_MRT_BYTES_H

#include "formats/mrt/mrt_format.h"
#include "trace/stream.h"

typedef struct mr_bytes {
    unsigned char *items;
    size_t count;
} mr_bytes;

/* The trace as .mrt, in blocks of `block` events; owned by the caller (free items). */
mr_bytes mr_test_mrt(const mr_trace *trace, uint32_t block);
mr_bytes mr_test_copy(mr_bytes bytes);

/* The chunk number `number` of this kind; NULL: there are fewer. Its payload is behind it. */
mr_mrt_chunk *mr_test_chunk(mr_bytes bytes, mr_mrt_kind kind, unsigned number);
/* Writes all checksums anew, as far as there are whole chunks. */
void mr_test_seal(mr_bytes bytes);

/* What a stream of the bytes gave. */
typedef struct mr_streamed {
    mr_status status;
    mr_error error;
    bool had_outlook;
    uint32_t event_count;
    uint64_t dropped_count;
} mr_streamed;

/* Streams the bytes through a file (or standard input) and compares the events with the first ones
 * of `trace`, whose names they must have; `trace` NULL: checks that they are a trace. The test
 * fails when they are not. */
mr_streamed mr_test_stream(mr_bytes bytes, const mr_trace *trace, bool standard_input, bool repair);

/* Reads the bytes whole; keep_partial. `*trace` is the caller's. `error` is zeroed by the
 * caller. */
mr_status mr_test_read_mrt(mr_bytes bytes, bool standard_input, mr_trace **trace, mr_error *error);

/* Fails the test unless the first events of `whole` are those of `part`, as text and lines; with
 * `all` also their number, the names, texts and what repair dropped. */
void mr_test_same(const mr_trace *part, const mr_trace *whole, bool all);

#endif
