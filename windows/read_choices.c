#include "read_choices.h"

#include "base/assert.h"
#include "hidden.h"

void mr_read_same_value_writes(const mr_window *w, uint32_t read, uint32_t *first, uint32_t *end)
{
    const mr_window_variable *variable = &w->variables[w->object[read]];
    MR_ASSERT_COSTLY(mr_op_reads(mr_window_op(w, read)) && !variable->by_source);
    uint32_t value = mr_window_read_value(w, read);
    uint32_t bounds[2];
    for (uint32_t side = 0; side < 2; side++) { /* first value >= value, then first value > value */
        uint32_t low = variable->writes_first, high = variable->writes_end;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (mr_window_written_value(w, w->writes_by_value[middle]) < value + side)
                low = middle + 1;
            else
                high = middle;
        }
        bounds[side] = low;
    }
    *first = bounds[0];
    *end = bounds[1];
}

bool mr_read_may_see(const mr_window *w, const mr_precedence *hard, uint32_t read, uint32_t write)
{
    MR_ASSERT_COSTLY(w->object[write] == w->object[read] && mr_op_writes(mr_window_op(w, write)));
    if (write == read || mr_write_is_hidden(w, write, read) || mr_precedes(hard, read, write))
        return false;
    uint32_t value = mr_window_read_value(w, read);
    uint32_t own = w->previous_write[read];
    if (own != MR_NONE && own != write && mr_window_written_value(w, own) != value &&
        mr_precedes(hard, write, own))
        return false;
    uint32_t next = w->next_write[write];
    return next == MR_NONE || mr_window_written_value(w, next) == value ||
           !mr_precedes(hard, next, read);
}

bool mr_read_may_see_carried(const mr_window *w, const mr_precedence *hard, uint32_t read)
{
    uint32_t value = mr_window_read_value(w, read);
    if (!value || w->variables[w->object[read]].carried_value != value)
        return false;
    uint32_t source = w->source[read];
    return w->previous_write[read] == MR_NONE &&
           (source == MR_NONE || !mr_precedes(hard, source, read));
}
