#include "requirement.h"

#include "base/assert.h"
#include "base/huge.h"
#include "trace/columns.h"

#include <stdlib.h>

/* The variable as the events so far left it. */
typedef struct progress {
    uint32_t last_write; /* or MR_NONE */
    bool accessed;
    int64_t value; /* of the last access that has one */
} progress;

int64_t mr_requirement_read(const mr_trace *trace, uint32_t event)
{
    uint32_t value = trace->value[event];
    MR_REQUIRE(value > 0);
    bool update = mr_op_updates(trace->op[event]);
    return trace->values[update ? trace->updates[value].read_value : value];
}

int64_t mr_requirement_written(const mr_trace *trace, uint32_t event)
{
    uint32_t value = trace->value[event];
    MR_REQUIRE(value > 0);
    bool update = mr_op_updates(trace->op[event]);
    return trace->values[update ? trace->updates[value].written_value : value];
}

static void note_read(mr_variable_rule *rule, progress *now, int64_t value)
{
    if (!now->accessed) {
        rule->initial_known = true;
        rule->initial = value;
    } else if (value != now->value) {
        rule->by_source = true;
    }
    now->value = value;
}

static void note_access(mr_variable_rule *rule, progress *now, const mr_trace *trace,
                        uint32_t event)
{
    uint8_t op = trace->op[event];
    if (!trace->value[event]) {
        rule->by_source = true;
    } else {
        if (mr_op_reads(op))
            note_read(rule, now, mr_requirement_read(trace, event));
        if (mr_op_writes(op))
            now->value = mr_requirement_written(trace, event);
    }
    now->accessed = true;
    if (mr_op_writes(op))
        now->last_write = event;
}

static void note_events(mr_requirements *requirements, progress *now, const mr_trace *trace)
{
    for (uint32_t x = 0; x < trace->variables.count; x++)
        now[x].last_write = MR_NONE;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        mr_trace_pass(trace, e);
        if (!mr_op_is_access(trace->op[e]))
            continue;
        uint32_t variable = trace->operand[e];
        requirements->source[e] = now[variable].last_write;
        note_access(&requirements->rules[variable], &now[variable], trace, e);
    }
}

bool mr_requirements_init(mr_requirements *requirements, const mr_trace *trace)
{
    uint32_t variables = trace->variables.count;
    progress *now = mr_calloc(variables, sizeof *now);
    requirements->source =
        mr_columns_derive(trace, sizeof *requirements->source, &requirements->memory);
    requirements->rules = mr_calloc(variables, sizeof *requirements->rules);
    bool ok = now && requirements->source && requirements->rules;
    if (ok)
        note_events(requirements, now, trace);
    else
        mr_requirements_free(requirements);
    free(now);
    return ok;
}

bool mr_requirements_init_by_window(mr_requirements *requirements, const mr_trace *trace)
{
    *requirements = (mr_requirements){0};
    requirements->written = mr_calloc(trace->variables.count, sizeof *requirements->written);
    return requirements->written != NULL;
}

bool mr_requirements_open(mr_requirements *requirements, const mr_trace *trace, uint32_t start,
                          uint32_t end, uint32_t (*before)(const void *context, uint32_t variable),
                          const void *context)
{
    void *source = requirements->source;
    uint32_t *written = requirements->written;
    if (!mr_huge_grow(&source, &requirements->source_room, end - start + 1ull,
                      sizeof *requirements->source))
        return false;
    requirements->source = source;
    requirements->from = start;
    for (uint32_t e = start; e < end; e++) {
        if (!mr_op_is_access(trace->op[e]))
            continue;
        uint32_t variable = trace->operand[e], write = written[variable];
        requirements->source[e - start] = write ? write - 1 : before(context, variable);
        written[variable] = mr_op_writes(trace->op[e]) ? e + 1 : write;
    }
    for (uint32_t e = start; e < end; e++)
        if (mr_op_is_access(trace->op[e]))
            written[trace->operand[e]] = 0;
    return true;
}

void mr_requirements_free(mr_requirements *requirements)
{
    if (requirements->written)
        mr_huge_free(requirements->source,
                     requirements->source_room * sizeof *requirements->source);
    free(requirements->written);
    mr_spill_free(&requirements->memory);
    free(requirements->rules);
    *requirements = (mr_requirements){0};
}
