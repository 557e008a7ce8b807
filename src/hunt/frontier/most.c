#include "most.h"

#include "base/memory.h"
#include "standing.h"

#include <stdlib.h>

typedef struct most {
    const mr_trace *trace;
    uint32_t read, write;
    uint8_t *came;  /* by event */
    uint8_t *ended; /* by thread: no more of its events come */
    mr_standing standing;
} most;

/* There is no such event, or it came. */
static bool is_there(const most *self, uint32_t event)
{
    return event >= self->trace->event_count || self->came[event];
}

/* Its thread has got to it. */
static bool is_next(const most *self, uint32_t event)
{
    uint32_t thread = self->trace->thread[event];
    const mr_thread_info *its = &self->trace->thread_info[thread];
    return !self->ended[thread] && (event != its->first || is_there(self, its->fork));
}

static bool can_write(const most *self, uint32_t event)
{
    uint32_t variable = self->trace->operand[event];
    if (variable != self->trace->operand[self->read])
        return true;
    return self->write != MR_NONE && self->standing.last[variable] != self->write;
}

static bool can_come(const most *self, uint32_t event)
{
    const mr_trace *trace = self->trace;
    uint8_t op = trace->op[event];
    uint32_t what = trace->operand[event];
    if (event == self->read || !is_next(self, event))
        return false;
    if (mr_op_reads(op) && self->standing.last[what] != trace->link[event])
        return false;
    if (mr_op_is_access(op) && mr_op_writes(op) && !can_write(self, event))
        return false;
    if (mr_standing_is_outermost(trace, event) &&
        !mr_standing_can_acquire(&self->standing, trace, event))
        return false;
    if (mr_op_takes(op) && !is_there(self, trace->link[event]))
        return false;
    return !mr_op_joins(op) || is_there(self, trace->thread_info[what].last);
}

mr_way_answer mr_most_way(const mr_trace *trace, uint32_t read, uint32_t write, mr_u32s *events)
{
    most self = {.trace = trace, .read = read, .write = write};
    uint32_t end = write != MR_NONE && write > read ? write + 1 : read + 1;
    uint32_t variable = trace->operand[read];
    bool reached = false;
    events->count = 0;
    self.came = mr_calloc(trace->event_count + 1ull, sizeof *self.came);
    self.ended = mr_calloc(trace->threads.count + 1ull, sizeof *self.ended);
    bool ok = mr_standing_make(&self.standing, trace) && self.came && self.ended;
    for (uint32_t event = 0; ok && event < end; event++) {
        bool comes = can_come(&self, event);
        reached = reached || (event == read && is_next(&self, read));
        if (!comes) {
            self.ended[trace->thread[event]] = 1;
            continue;
        }
        self.came[event] = 1;
        mr_standing_take(&self.standing, trace, event);
        ok = mr_u32s_push(events, event);
    }
    mr_way_answer answer = !ok                                                ? MR_WAY_NO_MEMORY
                           : reached && self.standing.last[variable] == write ? MR_WAY_FOUND
                                                                              : MR_WAY_NONE;
    free(self.came);
    free(self.ended);
    mr_standing_free(&self.standing);
    return answer;
}
