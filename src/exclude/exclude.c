#include "exclude.h"

#include "base/assert.h"
#include "excluded_calls.h"
#include "take.h"
#include "trace/builder.h"
#include "trace/columns.h"
#include "trace/members.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ID_BYTES = 24 };

typedef struct writer {
    const mr_trace *trace;
    const mr_exclude_options *options;
    mr_builder builder;
    bool *taken;  /* by event */
    bool *hidden; /* by variable: kept accesses lose their values */
    mr_excluded_calls calls;
    uint64_t *ids; /* by call: the number in its identifier */
    uint64_t last_id;
    char *reach; /* the text of a reach set */
    size_t reach_capacity;
    mr_exclude_counts counts;
    mr_u32s stacks; /* by event of the remaining trace, when the full one has stacks */
} writer;

static mr_status no_memory(mr_error *error)
{
    return mr_error_memory(error, "excluding events");
}

static mr_slice slice_of(const mr_name *name)
{
    return (mr_slice){name->text, name->length};
}

/* Adds the event. Its line is that of a text without empty lines and comments. */
static mr_status append(writer *self, const mr_parsed *event, mr_error *error)
{
    mr_trace *to = self->builder.trace;
    mr_names *names = (mr_names *)mr_trace_operand_names(to, event->op);
    mr_rows rows;
    uint32_t thread, operand = 0;
    mr_status status = mr_builder_rows(&self->builder, 1, &rows, error);
    if (status)
        return status;
    if (!mr_names_add(&to->threads, event->thread.text, event->thread.length, &thread) ||
        (names && !mr_names_add(names, event->name.text, event->name.length, &operand)))
        return no_memory(error);
    return mr_builder_append(&self->builder, &rows, event, thread, operand,
                             (uint64_t)to->event_count + 1, error);
}

static mr_parsed event_at(const mr_trace *trace, uint32_t event, mr_op op)
{
    return (mr_parsed){.op = op,
                       .thread = slice_of(&trace->threads.items[trace->thread[event]]),
                       .location = slice_of(&trace->locations.items[trace->location[event]])};
}

/* Calls. */

static bool reserve(writer *self, size_t bytes)
{
    void *reach = self->reach;
    bool done = mr_grow(&reach, &self->reach_capacity, bytes, 1);
    self->reach = reach;
    return done;
}

/* Is it a name that a reach set cannot hold, or that has a meaning there? */
static bool means_everything(const mr_name *name)
{
    return memchr(name->text, ',', name->length) || (name->length == 1 && name->text[0] == '*');
}

static bool write_names(writer *self, const mr_name *const *names, size_t count, mr_slice *reach)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (means_everything(names[i])) {
            *reach = (mr_slice){"*", 1};
            return true;
        }
        if (!reserve(self, used + names[i]->length + 1))
            return false;
        if (used > 0)
            self->reach[used++] = ',';
        memcpy(self->reach + used, names[i]->text, names[i]->length);
        used += names[i]->length;
    }
    *reach = (mr_slice){used > 0 ? self->reach : "", (uint32_t)used};
    return true;
}

/* Chooses the numbers of the identifiers x1, x2, …; identifiers of the trace are skipped. */
static void new_id(writer *self, uint32_t call)
{
    char text[ID_BYTES];
    uint32_t number, length;
    do
        length = (uint32_t)snprintf(text, sizeof text, "x%" PRIu64, ++self->last_id);
    while (mr_names_find(&self->trace->calls, text, length, &number));
    self->ids[call] = self->last_id;
}

static mr_status append_call(writer *self, uint32_t event, mr_op op, mr_error *error)
{
    const mr_trace *trace = self->trace;
    uint32_t number = self->calls.call_of[event];
    MR_ASSERT(number < self->calls.count);
    const mr_excluded_call *call = &self->calls.items[number];
    mr_parsed edge = event_at(trace, event, op);
    char text[ID_BYTES];
    if (op == MR_OP_CALL_BEGIN)
        new_id(self, number);
    MR_ASSERT(self->ids[number] != 0); /* mbegin comes before mend */
    edge.name.length = (uint32_t)snprintf(text, sizeof text, "x%" PRIu64, self->ids[number]);
    edge.name.text = text;
    if (op == MR_OP_CALL_BEGIN) {
        const mr_name **names = mr_calloc((size_t)call->length + 1, sizeof *names);
        for (uint32_t i = 0; names && i < call->length; i++)
            names[i] = mr_excluded_element_name(trace, self->calls.elements.items[call->start + i]);
        bool done = names && write_names(self, names, call->length, &edge.reach);
        free(names);
        if (!done)
            return no_memory(error);
    }
    return append(self, &edge, error);
}

static mr_status append_edges(writer *self, uint32_t event, mr_error *error)
{
    const mr_excluded_call *call = &self->calls.items[self->calls.call_of[event]];
    MR_ASSERT(call->first <= event && event <= call->last);
    mr_status status = MR_OK;
    if (self->options->no_calls)
        return MR_OK;
    if (event == call->first)
        status = append_call(self, event, MR_OP_CALL_BEGIN, error);
    if (!status && event == call->last)
        status = append_call(self, event, MR_OP_CALL_END, error);
    return status;
}

/* Kept events. */

static mr_status append_recorded_call(writer *self, uint32_t event, mr_parsed *kept,
                                      mr_error *error)
{
    const mr_trace *trace = self->trace;
    mr_reach reach = trace->reaches[trace->value[event]];
    const mr_name **names = mr_calloc((size_t)reach.count + 1, sizeof *names);
    for (uint32_t i = 0; names && i < reach.count; i++)
        names[i] = &trace->reach_names.items[trace->reach_items.items[reach.first + i]];
    bool done = names && write_names(self, names, reach.count, &kept->reach);
    free(names);
    return done ? append(self, kept, error) : no_memory(error);
}

static void give_value(const mr_trace *trace, uint32_t event, mr_parsed *kept)
{
    uint32_t value = trace->value[event];
    kept->has_value = value != 0;
    if (value == 0)
        return;
    if (!mr_op_has_pair((uint8_t)kept->op)) {
        kept->value = trace->values[value];
        return;
    }
    kept->value = trace->values[trace->updates[value].read_value];
    kept->written_value = trace->values[trace->updates[value].written_value];
}

static mr_status append_kept(writer *self, uint32_t event, mr_error *error)
{
    const mr_trace *trace = self->trace;
    mr_parsed kept = event_at(trace, event, (mr_op)trace->op[event]);
    const mr_names *names = mr_trace_operand_names(trace, kept.op);
    if (names)
        kept.name = slice_of(&names->items[trace->operand[event]]);
    if (mr_op_calls((uint8_t)kept.op))
        return append_recorded_call(self, event, &kept, error);
    kept.memory_order = mr_trace_memory_order(trace, event);
    if (mr_op_starts_life(trace->op[event]))
        give_value(trace, event, &kept);
    if (mr_op_is_access(trace->op[event])) {
        if (!self->hidden[trace->operand[event]])
            give_value(trace, event, &kept);
        else
            self->counts.without += trace->value[event] != 0;
    }
    return append(self, &kept, error);
}

/* The remaining trace as a whole. */

static void find_hidden(writer *self)
{
    const mr_trace *trace = self->trace;
    for (uint32_t event = 0; event < trace->event_count; event++) {
        uint32_t variable = trace->operand[event];
        if (self->taken[event] && mr_op_is_access(trace->op[event]) &&
            (mr_op_writes(trace->op[event]) || trace->variable_info[variable].by_source))
            self->hidden[variable] = true;
    }
}

static bool count_taken(writer *self)
{
    const mr_trace *trace = self->trace;
    bool *seen = mr_calloc((size_t)trace->locations.count + 1, sizeof *seen);
    for (uint32_t event = 0; seen && event < trace->event_count; event++) {
        if (!self->taken[event])
            continue;
        self->counts.events++;
        self->counts.locations += !seen[trace->location[event]];
        seen[trace->location[event]] = true;
    }
    free(seen);
    return seen != NULL;
}

static bool prepare(writer *self)
{
    const mr_trace *trace = self->trace;
    self->taken = mr_calloc((size_t)trace->event_count + 1, sizeof *self->taken);
    self->hidden = mr_calloc((size_t)trace->variables.count + 1, sizeof *self->hidden);
    if (!mr_builder_init(&self->builder, trace->path) ||
        !mr_spill_limit(&self->builder.trace->spill, trace->spill.limit_bytes, trace->spill.dir) ||
        !self->taken || !self->hidden || !mr_take_events(trace, self->options, self->taken) ||
        !count_taken(self) ||
        !mr_excluded_calls_find(trace, self->options, self->taken, &self->calls))
        return false;
    if (!self->options->whole_runs)
        find_hidden(self);
    self->counts.calls = self->options->no_calls ? 0 : self->calls.count;
    self->ids = mr_calloc(self->calls.count + 1, sizeof *self->ids);
    return self->ids != NULL;
}

static bool keep_texts(writer *self, mr_directive directive, const mr_names *names)
{
    for (uint32_t i = 0; i < names->count; i++) {
        const mr_name *name = &names->items[i];
        if (name->display &&
            !mr_builder_directive(&self->builder, directive, slice_of(name),
                                  (mr_slice){name->display, (uint32_t)strlen(name->display)}))
            return false;
    }
    return true;
}

static bool keep_types(writer *self)
{
    const mr_trace *trace = self->trace;
    for (uint32_t i = 0; i < trace->types.count; i++) {
        const char *type = mr_value_types_text(&trace->types, i);
        if (type && !mr_builder_directive(&self->builder, MR_DIRECTIVE_TYPE,
                                          slice_of(&trace->variables.items[i]),
                                          (mr_slice){type, (uint32_t)strlen(type)}))
            return false;
    }
    return true;
}

/* Of the variables and objects that are left. */
static bool keep_members(writer *self)
{
    const mr_trace *trace = self->trace;
    mr_trace *to = self->builder.trace;
    for (uint32_t i = 0; i < trace->members.count; i++) {
        const mr_name *variable = &trace->variables.items[trace->members.items[i].variable];
        const mr_name *object = &trace->objects.items[trace->members.items[i].object];
        uint32_t variable_number, object_number;
        if (mr_names_find(&to->variables, variable->text, variable->length, &variable_number) &&
            (!mr_names_add(&to->objects, object->text, object->length, &object_number) ||
             !mr_members_put(to, variable_number, object_number)))
            return false;
    }
    return true;
}

/* The events that were written for an event get its stack. */
static bool note_stack(writer *self, uint32_t event)
{
    while (self->trace->stack && self->stacks.count < self->builder.trace->event_count)
        if (!mr_u32s_push(&self->stacks, self->trace->stack[event]))
            return false;
    return true;
}

/* The remaining trace gets the stacks of the full one, with their numbers. */
static mr_status copy_stacks(writer *self, mr_trace *remaining, mr_error *error)
{
    const mr_trace *trace = self->trace;
    if (!trace->stack)
        return MR_OK;
    remaining->stacks = mr_calloc(trace->stack_count + 1ull, sizeof *remaining->stacks);
    if (!remaining->stacks)
        return no_memory(error);
    memcpy(remaining->stacks, trace->stacks, trace->stack_count * sizeof *trace->stacks);
    remaining->stack_count = trace->stack_count;
    for (uint32_t i = 0, number; i < trace->frames.count; i++)
        if (!mr_names_add(&remaining->frames, trace->frames.items[i].text,
                          trace->frames.items[i].length, &number))
            return no_memory(error);
    mr_status status = mr_columns_reserve_stacks(remaining, self->stacks.count, error);
    if (!status && self->stacks.count)
        memcpy(remaining->stack, self->stacks.items, self->stacks.count * sizeof *remaining->stack);
    return status;
}

/* Numbers the events of misuse as in the remaining trace; what was taken out is gone. */
static void move_misuses(mr_ending *ending, const uint32_t *moved, uint32_t event_count)
{
    size_t kept = 0;
    for (size_t i = 0; i < ending->misuse_count; i++) {
        mr_misuse misuse = ending->misuses[i];
        bool has_other = misuse.other != MR_MISUSE_NO_EVENT;
        if (misuse.event >= event_count || (has_other && misuse.other >= event_count))
            continue;
        misuse.event = moved[misuse.event];
        if (has_other)
            misuse.other = moved[misuse.other];
        if (misuse.event != MR_NONE && (!has_other || misuse.other != MR_NONE))
            ending->misuses[kept++] = misuse;
    }
    ending->misuse_count = kept;
}

/* Keeps what the trace says of its ending. */
static mr_status copy_ending(writer *self, const uint32_t *moved, mr_error *error)
{
    mr_ending *ending = &self->builder.trace->ending;
    MR_REQUIRE(moved);
    if (!mr_ending_copy(ending, &self->trace->ending))
        return no_memory(error);
    move_misuses(ending, moved, self->trace->event_count);
    return MR_OK;
}

/* Looks at the memory of the files of both traces, and whether the run is to end. */
static mr_status look(const writer *self, uint32_t event, mr_error *error)
{
    enum { EVENTS_A_LOOK = 1 << 12 };
    const mr_halt *halt = self->options->halt;
    if (event % EVENTS_A_LOOK)
        return MR_OK;
    mr_spill_look(&self->trace->spill);
    mr_spill_look(&self->builder.trace->spill);
    return mr_halt_asked(halt) ? mr_halt_fail(halt, self->trace->path, "excluding events", error)
                               : MR_OK;
}

static mr_status write_remaining(writer *self, mr_trace **remaining, mr_error *error)
{
    const mr_trace *trace = self->trace;
    uint32_t *moved = mr_calloc(trace->event_count + 1ull, sizeof *moved);
    mr_status status = MR_OK;
    if (!moved || !prepare(self)) {
        free(moved);
        return no_memory(error);
    }
    for (uint32_t event = 0; event < trace->event_count && !status; event++) {
        status =
            self->taken[event] ? append_edges(self, event, error) : append_kept(self, event, error);
        moved[event] = self->taken[event] ? MR_NONE : self->builder.trace->event_count - 1;
        if (!status && !note_stack(self, event))
            status = no_memory(error);
        if (!status)
            status = look(self, event, error);
    }
    if (!status && !(keep_texts(self, MR_DIRECTIVE_LOCATION, &trace->locations) &&
                     keep_texts(self, MR_DIRECTIVE_VARIABLE, &trace->variables) &&
                     keep_texts(self, MR_DIRECTIVE_THREAD, &trace->threads) &&
                     keep_texts(self, MR_DIRECTIVE_LOCK, &trace->locks) &&
                     keep_texts(self, MR_DIRECTIVE_OBJECT, &trace->objects) && keep_types(self) &&
                     keep_members(self)))
        status = no_memory(error);
    if (!status)
        status = copy_ending(self, moved, error);
    free(moved);
    if (!status)
        status = mr_builder_finish(&self->builder, remaining, error);
    return status ? status : copy_stacks(self, *remaining, error);
}

mr_status mr_exclude(const mr_trace *trace, const mr_exclude_options *options, mr_trace **remaining,
                     mr_exclude_counts *counts, mr_error *error)
{
    writer self = {.trace = trace, .options = options};
    *remaining = NULL;
    mr_status status = write_remaining(&self, remaining, error);
    if (status) {
        mr_trace_free(*remaining);
        *remaining = NULL;
    }
    if (counts)
        *counts = self.counts;
    mr_builder_free(&self.builder);
    mr_excluded_calls_free(&self.calls);
    free(self.taken);
    free(self.hidden);
    free(self.ids);
    free(self.reach);
    mr_u32s_free(&self.stacks);
    return status;
}
