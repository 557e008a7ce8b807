/*
 * mrt_source: the chunks of an .mrt file, one after the other, each verified before it is handed
 * out. A regular file is mapped; anything else (standard input, a packed file) is read chunk by
 * chunk into a buffer.
 *
 *   mr_mrt_source_open | mr_mrt_source_attach
 *     → (mr_mrt_source_next → mr_mrt_source_payload | mr_mrt_source_skip)* → mr_mrt_source_close
 *
 * A size that a chunk claims is compared with the bytes that are there before it is used. A mapped
 * file that another process cuts off meanwhile is SIGBUS for this process (the program says so,
 * cli/cut_off.h); rename a new file over an old one instead, as convert does.
 *
 * Errors have a text, what and at which offset, and no place.
 */
#ifndef MR_FORMATS_MRT_SOURCE_H
#define MR_FORMATS_MRT_SOURCE_H

#include "formats/pack/input.h"
#include "mrt_format.h"

#include <time.h>

typedef struct mr_mrt_source {
    const unsigned char *map; /* NULL: read */
    uint64_t size_bytes;      /* of the map */
    int file;                 /* that is mapped */
    struct timespec changed;  /* when it was, as it was mapped */
    mr_input *input;          /* borrowed */
    uint32_t version;
    unsigned char *buffer; /* owned; where it begins at a multiple of 64: `payload` */
    size_t buffer_capacity;
    uint64_t offset, chunk_offset; /* of what comes next, of the chunk given last */
    uint64_t chunk_number;
    uint64_t released;    /* mapped pages before it were given back */
    uint64_t tight_bytes; /* memory is tight: so many bytes of pages stay; 0: it is not */
} mr_mrt_source;

/* Maps the file and checks its header. `*mapped` is false, and nothing open, when it is no regular
 * file or does not begin like an .mrt file (it may be a packed one): then attach. MR_ERR_TRACE,
 * MR_ERR_IO. */
mr_status mr_mrt_source_open(mr_mrt_source *source, const char *path, bool *mapped,
                             mr_error *error);
/* Has the mapped file been written to since it was mapped? */
bool mr_mrt_source_changed(const mr_mrt_source *source);
/* Reads from the input, from the first byte of the file. It must outlive the source. */
mr_status mr_mrt_source_attach(mr_mrt_source *source, mr_input *input, mr_error *error);
void mr_mrt_source_close(mr_mrt_source *source);

/* The header of the next chunk. MR_ERR_TRACE: damaged, or the file ends; MR_ERR_IO, MR_ERR_MEMORY.
 */
mr_status mr_mrt_source_next(mr_mrt_source *source, mr_mrt_chunk *chunk, mr_error *error);
/* Its payload: chunk->size_bytes at a multiple of 64, valid until the next call but one of
 * mr_mrt_source_next; for a mapped file until it is closed. */
mr_status mr_mrt_source_payload(mr_mrt_source *source, const mr_mrt_chunk *chunk,
                                const unsigned char **payload, mr_error *error);
/* Goes past it, unseen. */
mr_status mr_mrt_source_skip(mr_mrt_source *source, const mr_mrt_chunk *chunk, mr_error *error);
/* Gives the pages far before an offset of a mapped file back, so that a large file does not count as memory in use. They
 * can be used again. Offsets grow; 0 begins anew. */
void mr_mrt_source_release(mr_mrt_source *source, uint64_t offset);
/* The same for one more pass, which has come from an offset to the next, when memory is tight. Several threads may make such passes. */
void mr_mrt_source_release_between(const mr_mrt_source *source, uint64_t from, uint64_t offset);
/* Puts bytes of a mapped file at `to`, in a mapping of the caller's, by mapping their pages. False: they are no whole pages, or the
 * system refuses; what was at `to` may be gone then, and is zero. */
bool mr_mrt_source_place(const mr_mrt_source *source, const void *from, size_t bytes, void *to);
/* The process is to stay within so many bytes (0: any): memory is tight when a mapped file takes more than an eighth. */
void mr_mrt_source_limit(mr_mrt_source *source, uint64_t memory_bytes);
/* After the last chunk: MR_ERR_TRACE when there are more bytes. */
mr_status mr_mrt_source_end(mr_mrt_source *source, mr_error *error);

/* The chunk at an offset of a mapped file, with its payload; does not move on. False: there is no
 * whole chunk of this kind there. */
bool mr_mrt_source_peek(const mr_mrt_source *source, uint64_t offset, mr_mrt_kind kind,
                        mr_mrt_chunk *chunk, const unsigned char **payload);

#endif
