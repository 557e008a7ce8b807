/*
 * builder: a trace while it grows: its names, values, lines and texts for people. The rows of the
 * columns go to where the caller wants them: into the trace (mr_builder_rows), or into a block that
 * is used and forgotten.
 *
 *   mr_builder_init → (mr_builder_rows → mr_builder_append*)* → mr_builder_finish | mr_builder_free
 */
#ifndef MR_TRACE_BUILDER_H
#define MR_TRACE_BUILDER_H

#include "base/keys.h"
#include "parsed.h"
#include "trace.h"

/* Rows of columns to be filled: row `count` is the next one. */
typedef struct mr_rows {
    uint8_t *op;
    uint32_t *thread, *operand, *location;
    uint32_t *value;       /* NULL: values are not kept */
    uint8_t *memory_order; /* NULL: not kept, or (in_trace) every event so far is sc */
    bool in_trace;         /* they are rows of the trace */
    uint32_t count, room;
} mr_rows;

enum { MR_BUILDER_SMALL_VALUES = 1024 };

typedef struct mr_builder {
    mr_trace *trace; /* owned until finish; its names may be added to directly */
    mr_u32s kept;    /* a trace that lacks values: events that have some nevertheless, and these */
    mr_keys values;
    uint32_t small_values[MR_BUILDER_SMALL_VALUES]; /* numbers of 0, 1, …; 0: not seen so far */
    bool with_outlook; /* the trace gets one, made by a thread, when there can be one */
    mr_names directives[MR_DIRECTIVE_COUNT]; /* names with a text for people or a type, so far */
} mr_builder;

/* False: no memory. The builder can be freed in either case. */
bool mr_builder_init(mr_builder *builder, const char *path);
void mr_builder_free(mr_builder *builder);

/* Room for the next events in the columns of the trace, at least one and at most `most` > 0.
 * MR_ERR_MEMORY, MR_ERR_IO (spill.h). */
mr_status mr_builder_rows(mr_builder *builder, uint32_t most, mr_rows *rows, mr_error *error);

/* Adds the event, whose thread and operand are numbers already, to the rows, which have room; adds
 * its location and values. MR_ERR_MEMORY, MR_ERR_IO, or MR_ERR_TRACE when the trace has more events
 * than a number can hold. */
mr_status mr_builder_append(mr_builder *builder, mr_rows *rows, const mr_parsed *parsed,
                            uint32_t thread, uint32_t operand, uint64_t line, mr_error *error);

/* The same with the number of the location, which the caller has added; that of `parsed` is not
 * looked at. */
mr_status mr_builder_append_at(mr_builder *builder, mr_rows *rows, const mr_parsed *parsed,
                               uint32_t thread, uint32_t operand, uint32_t location, uint64_t line,
                               mr_error *error);

/* Puts the memory order of the event that has just been put into the rows. MR_ERR_MEMORY,
 * MR_ERR_IO. */
mr_status mr_builder_put_order(mr_builder *builder, mr_rows *rows, mr_memory_order order,
                               mr_error *error);

/* The number of a value, as in the value column. False: no memory. */
bool mr_builder_value(mr_builder *builder, int64_t value, uint32_t *number);

/* Fetches what mr_builder_value will look at into the cache. */
static inline void mr_builder_fetch_value(const mr_builder *builder, int64_t value)
{
    if ((uint64_t)value >= MR_BUILDER_SMALL_VALUES)
        mr_keys_fetch(&builder->values, (uint64_t)value);
}

/* Notes the line of the next event; to be called before it, except where it is the line after that
 * of the event before. MR_ERR_MEMORY, MR_ERR_IO. */
mr_status mr_builder_line(mr_builder *builder, uint64_t line, mr_error *error);

/* Keeps a text for people, or a type, until the end: its name may be used only later, or never. */
bool mr_builder_directive(mr_builder *builder, mr_directive directive, mr_slice name,
                          mr_slice text);

/* Gives the names that are used their texts for people and types: when all events were added. False:
 * no memory. */
bool mr_builder_name(mr_builder *builder);

/* No event comes any more, nor a text for a name, and no name will be looked up: gives back the
 * memory for that. */
void mr_builder_drop_indexes(mr_builder *builder);

/* Names, derives the indexes and hands the trace over. Frees the builder on success. */
mr_status mr_builder_finish(mr_builder *builder, mr_trace **trace, mr_error *error);

#endif
