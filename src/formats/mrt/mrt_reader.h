/*
 * mrt_reader: what the two ways to read an .mrt file, block by block (mrt_read.c) and whole
 * (mrt_load.c), share.
 */
#ifndef MR_FORMATS_MRT_READER_H
#define MR_FORMATS_MRT_READER_H

#include "base/ticker.h"
#include "mrt_check.h"
#include "mrt_index.h"
#include "mrt_orders.h"
#include "mrt_read.h"
#include "mrt_source.h"
#include "mrt_stacks.h"
#include "mrt_states.h"

typedef enum mr_mrt_state {
    MR_MRT_AT_EVENTS, /* any chunk but an END may follow */
    MR_MRT_AT_VALUES, /* the values of the block before it follow */
    MR_MRT_AT_END,    /* only the end mark may follow */
    MR_MRT_AT_DONE,
} mr_mrt_state;

struct mr_mrt {
    const char *place; /* the file's name in messages */
    mr_read_options options;
    mr_input *input; /* owned; NULL: the file is mapped */
    mr_mrt_source source;
    mr_trace *trace;          /* names, lines, counts; with `whole` the columns, too */
    mr_arena texts;           /* copies of names that came through a buffer */
    mr_mrt_contents contents; /* of a mapped file, from the start */
    bool has_contents;
    mr_mrt_check check;
    mr_mrt_state state;
    bool has_values;      /* the block given last … */
    uint32_t block_count; /* … and how many events it has in the file */
    bool had_stacks;      /* … and have its stacks been there? … */
    bool had_orders;      /* … and its memory orders? */
    bool has_positions;   /* POSITIONS chunks */
    bool complete;        /* the end was read, and nothing was damaged */
    bool whole;           /* names are interned; the caller takes the VALUES chunks */
    mr_mrt_stacks_reader stacks;
    mr_mrt_orders_reader orders;
    mr_mrt_states states;  /* used with options.check_states */
    uint64_t index_offset; /* of the INDEX chunk */
    mr_ticker ticker;
    mr_error failure; /* status MR_OK: none so far */
};

/* mr_mrt_open; with `whole` for mrt_load.c. */
mr_status mr_mrt_open_any(const char *path, mr_input *input, const mr_read_options *options,
                          bool whole, mr_mrt **mrt, mr_error *error);

/* Puts place and remedy to the error and keeps it for later calls. With repair the trace just ends:
 * MR_OK. */
mr_status mr_mrt_fail(mr_mrt *mrt, mr_error *error);

/* The error of a trace with more events than MR_NESTED, which is read whole. */
mr_status mr_mrt_too_many(const mr_mrt *mrt, mr_error *error);

#endif
