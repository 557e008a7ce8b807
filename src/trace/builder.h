/*
 * builder: a trace while it grows. Columns grow by reallocation and are trimmed at the end.
 *
 *   mr_builder_init → mr_builder_append* → mr_builder_finish | mr_builder_free
 */
#ifndef MR_TRACE_BUILDER_H
#define MR_TRACE_BUILDER_H

#include "keys.h"
#include "parse.h"
#include "trace.h"

typedef struct mr_builder {
    mr_trace *trace; /* owned until finish; its names may be added to directly */
    size_t event_capacity, update_capacity, reach_capacity, step_capacity;
    mr_keys values;
    mr_names directives[MR_DIRECTIVE_COUNT]; /* names with a text for people, seen so far */
} mr_builder;

/* False: no memory. The builder can be freed in either case. */
bool mr_builder_init(mr_builder *builder, const char *path);
void mr_builder_free(mr_builder *builder);

/* Adds the event, whose thread and operand are numbers already; adds its location and values.
 * MR_ERR_MEMORY, or MR_ERR_TRACE when the trace has more events than a number can hold. */
mr_status mr_builder_append(mr_builder *builder, const mr_parsed *parsed, uint32_t thread,
                            uint32_t operand, uint64_t line, mr_error *error);

/* Keeps a text for people until the end: its name may be used only later, or never. */
bool mr_builder_directive(mr_builder *builder, mr_directive directive, mr_slice name,
                          mr_slice text);

/* Derives the indexes and hands the trace over. Frees the builder on success. */
mr_status mr_builder_finish(mr_builder *builder, mr_trace **trace, mr_error *error);

#endif
