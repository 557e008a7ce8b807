#include "columns.h"

#include "base/assert.h"
#include "base/huge.h"
#include "pager.h"

#include <string.h>

enum { OP, THREAD, OPERAND, LOCATION, VALUE, LINK, STACK, ORDER, UPDATES, REACHES, LINES, SLOTS };

_Static_assert((int)SLOTS <= (int)MR_SPILL_ARRAYS, "a slot for each array");

bool mr_columns_limit(mr_trace *trace, const mr_read_options *options)
{
    return !options || mr_spill_limit(&trace->spill, options->memory_bytes, options->spill_dir);
}

static void point(mr_trace *trace)
{
    const mr_spill_array *arrays = trace->spill.arrays;
    trace->op = arrays[OP].at;
    trace->thread = arrays[THREAD].at;
    trace->operand = arrays[OPERAND].at;
    trace->location = arrays[LOCATION].at;
    trace->value = arrays[VALUE].at;
    trace->link = arrays[LINK].at;
    trace->stack = arrays[STACK].at;
    trace->memory_order = arrays[ORDER].at;
    trace->updates = arrays[UPDATES].at;
    trace->reaches = arrays[REACHES].at;
    trace->line_steps = arrays[LINES].at;
}

static mr_status reserve(mr_trace *trace, size_t slot, size_t count, size_t element_bytes,
                         mr_error *error)
{
    if (count <= trace->spill.arrays[slot].count && trace->spill.arrays[slot].at)
        return MR_OK;
    mr_status status =
        mr_spill_reserve(&trace->spill, slot, count ? count : 1, element_bytes, error);
    point(trace);
    return status;
}

static size_t last_column(const mr_trace *trace)
{
    return trace->lacks_values ? LOCATION : VALUE;
}

mr_status mr_columns_reserve_events(mr_trace *trace, size_t count, mr_error *error)
{
    MR_REQUIRE(count >= trace->event_count);
    /* With the links, which come later. */
    const size_t event_bytes = sizeof *trace->op + 5 * sizeof(uint32_t);
    mr_status status = mr_spill_expect(&trace->spill, (uint64_t)count * event_bytes, error);
    if (!status)
        status = reserve(trace, OP, count, sizeof *trace->op, error);
    for (size_t slot = THREAD; !status && slot <= last_column(trace); slot++)
        status = reserve(trace, slot, count, sizeof(uint32_t), error);
    if (!status && trace->memory_order)
        status = mr_columns_reserve_orders(trace, mr_columns_room(trace), error);
    return status;
}

mr_status mr_columns_reserve_links(mr_trace *trace, size_t count, mr_error *error)
{
    return reserve(trace, LINK, count, sizeof *trace->link, error);
}

mr_status mr_columns_reserve_stacks(mr_trace *trace, size_t count, mr_error *error)
{
    return reserve(trace, STACK, count, sizeof *trace->stack, error);
}

mr_status mr_columns_reserve_orders(mr_trace *trace, size_t count, mr_error *error)
{
    return reserve(trace, ORDER, count, sizeof *trace->memory_order, error);
}

mr_status mr_columns_reserve_updates(mr_trace *trace, size_t count, mr_error *error)
{
    return reserve(trace, UPDATES, count, sizeof *trace->updates, error);
}

mr_status mr_columns_reserve_reaches(mr_trace *trace, size_t count, mr_error *error)
{
    return reserve(trace, REACHES, count, sizeof *trace->reaches, error);
}

mr_status mr_columns_reserve_lines(mr_trace *trace, size_t count, mr_error *error)
{
    return reserve(trace, LINES, count, sizeof *trace->line_steps, error);
}

bool mr_columns_sparse(mr_trace *trace, size_t count)
{
    bool made = mr_spill_sparse(&trace->spill, OP, count, sizeof *trace->op);
    for (size_t slot = THREAD; made && slot <= LINK; slot++)
        made = mr_spill_sparse(&trace->spill, slot, count, sizeof(uint32_t));
    point(trace);
    return made;
}

bool mr_columns_dense(mr_trace *trace, size_t count)
{
    bool made = mr_spill_dense(&trace->spill, OP, count, sizeof *trace->op);
    for (size_t slot = THREAD; made && slot <= LINK; slot++)
        made = mr_spill_dense(&trace->spill, slot, count, sizeof(uint32_t));
    point(trace);
    return made;
}

bool mr_columns_zero_values(mr_trace *trace)
{
    size_t count = trace->event_count ? (size_t)trace->event_count : 1;
    bool made = mr_spill_sparse(&trace->spill, VALUE, count, sizeof *trace->value);
    point(trace);
    return made;
}

size_t mr_columns_room(const mr_trace *trace)
{
    size_t room = SIZE_MAX;
    for (size_t slot = OP; slot <= last_column(trace); slot++)
        room = trace->spill.arrays[slot].count < room ? trace->spill.arrays[slot].count : room;
    return room;
}

mr_status mr_columns_fit(mr_trace *trace, mr_error *error)
{
    const size_t others[SLOTS] = {[UPDATES] = trace->update_count,
                                  [REACHES] = trace->reach_count,
                                  [LINES] = trace->line_step_count};
    mr_status status = MR_OK;
    for (size_t slot = 0; !status && slot < SLOTS; slot++) {
        size_t used = slot < UPDATES ? trace->event_count : others[slot];
        if (!trace->spill.arrays[slot].at || (slot == VALUE && trace->lacks_values))
            continue;
        MR_ASSERT(used <= trace->spill.arrays[slot].count);
        status = mr_spill_fit(&trace->spill, slot, used, error);
    }
    point(trace);
    return status;
}

void *mr_columns_derive(const mr_trace *trace, size_t element_bytes, mr_spill *spill)
{
    size_t count = trace->event_count ? trace->event_count : 1;
    *spill = (mr_spill){0};
    if (trace->spill.pager && (!mr_spill_limit(spill, trace->spill.limit_bytes, trace->spill.dir) ||
                               mr_spill_expect(spill, UINT64_MAX, NULL)))
        return NULL;
    if (mr_spill_reserve(spill, 0, count, element_bytes, NULL) ||
        mr_spill_fit(spill, 0, count, NULL))
        return NULL;
    if (!spill->arrays[0].is_mapped) /* files begin with zeros */
        memset(spill->arrays[0].at, 0, count * element_bytes);
    return spill->arrays[0].at;
}

uint64_t mr_columns_memory_bytes(const mr_trace *trace)
{
    uint64_t bytes = trace->spill.pager ? mr_pager_window_bytes(trace->spill.limit_bytes) : 0;
    for (size_t slot = 0; slot < SLOTS; slot++) {
        const mr_spill_array *array = &trace->spill.arrays[slot];
        bytes += array->is_mapped ? 0 : (uint64_t)array->count * array->element_bytes;
    }
    return bytes;
}
