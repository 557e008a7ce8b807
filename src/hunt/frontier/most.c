#include "most.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct most {
    const mr_trace *trace;
    uint32_t read, write;
    uint8_t *came;    /* by event */
    uint8_t *ended;   /* by thread: no more of its events come */
    uint32_t *last;   /* by variable: the last write that came, MR_NONE */
    uint32_t *open;   /* by lock: sections that are open … */
    uint8_t *is_held; /* … and one of them excludes all others */
} most;

static bool make_room(most *self)
{
    const mr_trace *trace = self->trace;
    size_t last = (trace->variables.count + 1ull) * sizeof *self->last;
    self->came = mr_calloc(trace->event_count + 1ull, sizeof *self->came);
    self->ended = mr_calloc(trace->threads.count + 1ull, sizeof *self->ended);
    self->last = mr_malloc(last, 0);
    self->open = mr_calloc(trace->locks.count + 1ull, sizeof *self->open);
    self->is_held = mr_calloc(trace->locks.count + 1ull, sizeof *self->is_held);
    if (self->last)
        memset(self->last, 0xFF, last);
    return self->came && self->ended && self->last && self->open && self->is_held;
}

static void free_room(most *self)
{
    free(self->came);
    free(self->ended);
    free(self->last);
    free(self->open);
    free(self->is_held);
}

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

static bool is_outermost(const mr_trace *trace, uint32_t event)
{
    return trace->link[event] != MR_NESTED;
}

static bool can_write(const most *self, uint32_t event)
{
    uint32_t variable = self->trace->operand[event];
    if (variable != self->trace->operand[self->read])
        return true;
    return self->write != MR_NONE && self->last[variable] != self->write;
}

static bool can_acquire(const most *self, uint32_t event)
{
    uint32_t lock = self->trace->operand[event];
    return !self->open[lock] || (mr_op_is_shared(self->trace->op[event]) && !self->is_held[lock]);
}

static bool can_come(const most *self, uint32_t event)
{
    const mr_trace *trace = self->trace;
    uint8_t op = trace->op[event];
    uint32_t what = trace->operand[event];
    if (event == self->read || !is_next(self, event))
        return false;
    if (mr_op_reads(op) && self->last[what] != trace->link[event])
        return false;
    if (mr_op_is_access(op) && mr_op_writes(op) && !can_write(self, event))
        return false;
    if (mr_op_acquires(op) && is_outermost(trace, event) && !can_acquire(self, event))
        return false;
    if (mr_op_takes(op) && !is_there(self, trace->link[event]))
        return false;
    return !mr_op_joins(op) || is_there(self, trace->thread_info[what].last);
}

static void come(most *self, uint32_t event)
{
    const mr_trace *trace = self->trace;
    uint8_t op = trace->op[event];
    uint32_t what = trace->operand[event];
    self->came[event] = 1;
    if (mr_op_is_access(op) && mr_op_writes(op))
        self->last[what] = event;
    if (mr_op_acquires(op) && is_outermost(trace, event)) {
        self->open[what]++;
        self->is_held[what] = !mr_op_is_shared(op);
    }
    if (mr_op_releases(op) && is_outermost(trace, event) && self->open[what])
        self->open[what]--;
}

mr_way_answer mr_most_way(const mr_trace *trace, uint32_t read, uint32_t write, mr_u32s *events)
{
    most self = {.trace = trace, .read = read, .write = write};
    uint32_t end = write != MR_NONE && write > read ? write + 1 : read + 1;
    uint32_t variable = trace->operand[read];
    bool ok = make_room(&self), reached = false;
    events->count = 0;
    for (uint32_t event = 0; ok && event < end; event++) {
        bool comes = can_come(&self, event);
        reached = reached || (event == read && is_next(&self, read));
        if (!comes) {
            self.ended[trace->thread[event]] = 1;
            continue;
        }
        come(&self, event);
        ok = mr_u32s_push(events, event);
    }
    mr_way_answer answer = !ok                                       ? MR_WAY_NO_MEMORY
                           : reached && self.last[variable] == write ? MR_WAY_FOUND
                                                                     : MR_WAY_NONE;
    free_room(&self);
    return answer;
}
