#include "way.h"

#include "base/memory.h"
#include "standing.h"

#include <stdlib.h>
#include <string.h>

bool mr_way_index_make(mr_way_index *index, const mr_trace *trace)
{
    uint32_t threads = trace->threads.count;
    index->number = mr_calloc(trace->event_count + 1ull, sizeof *index->number);
    index->events = mr_calloc(trace->event_count + 1ull, sizeof *index->events);
    index->first = mr_calloc(threads + 2ull, sizeof *index->first);
    if (!index->number || !index->events || !index->first)
        return false;
    uint32_t *next = index->first + 1;
    for (uint32_t t = 0; t < threads; t++)
        next[t + 1] = next[t] + trace->thread_info[t].event_count;
    for (uint32_t event = 0; event < trace->event_count; event++)
        index->events[next[trace->thread[event]]++] = event;
    for (uint32_t t = 0; t < threads; t++)
        for (uint32_t i = index->first[t]; i < index->first[t + 1]; i++)
            index->number[index->events[i]] = i - index->first[t];
    return true;
}

void mr_way_index_free(mr_way_index *index)
{
    free(index->number);
    free(index->first);
    free(index->events);
    *index = (mr_way_index){.number = NULL};
}

typedef struct way {
    const mr_trace *trace;
    const mr_way_index *index;
    const mr_way_goal *goal;
    uint32_t *need;      /* by thread: so many of its events come */
    uint32_t *looked;    /* by thread: of these, so many were looked at */
    uint32_t *limit;     /* by thread: more must not come */
    uint32_t *open;      /* by lock: the acquire of the section that stays open, MR_NONE */
    uint32_t *last_open; /* by lock: scratch */
    bool changed, impossible;
} way;

static bool comes(const way *self, uint32_t event)
{
    return self->index->number[event] < self->need[self->trace->thread[event]];
}

static void require(way *self, uint32_t event)
{
    uint32_t thread = self->trace->thread[event], count = self->index->number[event] + 1;
    if (count <= self->need[thread])
        return;
    self->need[thread] = count;
    self->changed = true;
    self->impossible |= count > self->limit[thread];
}

/* The event that ends the section of an outermost acquire; MR_NONE: none, or it is an inner one. */
static uint32_t end_of(const mr_trace *trace, uint32_t acquire)
{
    uint32_t link = trace->link[acquire];
    return link == MR_NESTED ? MR_NONE : link;
}

/* What the event needs. */
static void look(way *self, uint32_t event)
{
    const mr_trace *trace = self->trace;
    uint8_t op = trace->op[event];
    if (mr_op_reads(op) && trace->link[event] != MR_NONE)
        require(self, trace->link[event]);
    if (mr_op_takes(op) && trace->link[event] != MR_NONE && trace->link[event] != MR_NESTED)
        require(self, trace->link[event]);
    if (mr_op_joins(op)) {
        uint32_t child = trace->operand[event];
        if (trace->thread_info[child].last != MR_NONE)
            require(self, trace->thread_info[child].last);
    }
    if (self->index->number[event] == 0 && trace->thread_info[trace->thread[event]].fork != MR_NONE)
        require(self, trace->thread_info[trace->thread[event]].fork);
}

static void look_at_all(way *self)
{
    const mr_way_index *index = self->index;
    do {
        self->changed = false;
        for (uint32_t t = 0; t < self->trace->threads.count && !self->impossible; t++)
            while (self->looked[t] < self->need[t])
                look(self, index->events[index->first[t] + self->looked[t]++]);
    } while (self->changed && !self->impossible);
}

static bool is_of_stop(const way *self, uint32_t event)
{
    for (uint32_t i = 0; i < self->goal->stop_count; i++)
        if (self->trace->thread[self->goal->stops[i]] == self->trace->thread[event])
            return true;
    return false;
}

/* May a section of the lock stay open? */
static bool may_stay_open(const way *self, uint32_t lock)
{
    for (uint32_t i = 0; i < self->goal->stop_count && !self->goal->may_wait; i++)
        if (mr_standing_is_outermost(self->trace, self->goal->stops[i]) &&
            self->trace->operand[self->goal->stops[i]] == lock)
            return false;
    return true;
}

/* The section of this acquire, or the one that was to stay open, has to end. */
static void close_one(way *self, uint32_t acquire, uint32_t other)
{
    uint32_t closed = is_of_stop(self, acquire) ? other : acquire;
    uint32_t end = end_of(self->trace, closed);
    if (end == MR_NONE)
        self->impossible = true;
    else
        require(self, end);
}

/* Ends sections, so that at most one of each lock is open: that of a thread with a stop, else the last.
 */
static void close_sections(way *self)
{
    const mr_trace *trace = self->trace;
    const mr_way_index *index = self->index;
    uint32_t locks = trace->locks.count;
    memset(self->open, 0xFF, locks * sizeof *self->open);
    memset(self->last_open, 0xFF, locks * sizeof *self->last_open);
    for (uint32_t t = 0; t < trace->threads.count; t++) {
        for (uint32_t i = 0; i < self->need[t]; i++) {
            uint32_t event = index->events[index->first[t] + i], lock = trace->operand[event];
            if (!mr_standing_is_outermost(trace, event))
                continue;
            uint32_t end = end_of(trace, event);
            bool shared = mr_op_is_shared(trace->op[event]);
            if (end != MR_NONE && comes(self, end)) {
                if (self->last_open[lock] == MR_NONE || self->last_open[lock] < event)
                    self->last_open[lock] = event;
            } else if (!may_stay_open(self, lock)) {
                close_one(self, event, event);
            } else if (self->open[lock] == MR_NONE) {
                self->open[lock] = event;
            } else if (!shared || !mr_op_is_shared(trace->op[self->open[lock]])) {
                uint32_t other = self->open[lock];
                bool keeps = is_of_stop(self, other) || (!is_of_stop(self, event) && event < other);
                close_one(self, keeps ? event : other, keeps ? event : other);
                self->open[lock] = keeps ? other : event;
            }
        }
    }
    for (uint32_t lock = 0; lock < locks; lock++)
        if (self->open[lock] != MR_NONE && self->last_open[lock] != MR_NONE &&
            self->last_open[lock] > self->open[lock] && !is_of_stop(self, self->open[lock]))
            close_one(self, self->open[lock], self->open[lock]);
}

static bool find_events(way *self)
{
    const mr_way_goal *goal = self->goal;
    if (goal->barred != MR_NONE)
        self->limit[self->trace->thread[goal->barred]] = self->index->number[goal->barred];
    for (uint32_t i = 0; i < goal->stop_count; i++) {
        uint32_t event = goal->stops[i], thread = self->trace->thread[event];
        self->limit[thread] = self->index->number[event];
        self->need[thread] = self->index->number[event];
    }
    for (uint32_t i = 0; i < goal->stop_count; i++) {
        uint32_t event = goal->stops[i];
        uint32_t fork = self->trace->thread_info[self->trace->thread[event]].fork;
        if (self->index->number[event] == 0 && fork != MR_NONE)
            require(self, fork);
    }
    if (goal->last == MR_WAY_WRITE)
        require(self, goal->write);
    do {
        look_at_all(self);
        self->changed = false;
        if (!self->impossible)
            close_sections(self);
    } while (self->changed && !self->impossible);
    return !self->impossible;
}

/* ---- their order ---- */

typedef struct line_up {
    way *way;
    uint32_t *next; /* by thread: of its events that come, so many were done */
    mr_standing standing;
    uint32_t *unread;   /* by event: of a write: reads of it that come and were not done … */
    uint32_t *no_write; /* by variable: the same of the initial value */
    uint32_t *left;     /* by variable: writes that come and were not done */
    uint32_t *sections; /* by lock: the same of closed sections, while one stays open */
    uint32_t asked;     /* the variable of the goal, MR_NONE */
} line_up;

static bool can_read(const line_up *self, uint32_t event)
{
    const mr_trace *trace = self->way->trace;
    return self->standing.last[trace->operand[event]] == trace->link[event];
}

/* Nobody is still to see what the variable has now, and the write of the goal comes last. */
static bool can_write(const line_up *self, uint32_t event)
{
    const mr_trace *trace = self->way->trace;
    uint32_t variable = trace->operand[event], now = self->standing.last[variable];
    uint32_t unread = now == MR_NONE ? self->no_write[variable] : self->unread[now];
    if (mr_op_reads(trace->op[event]))
        unread -= trace->link[event] == now; /* it is one of them */
    bool waits =
        variable == self->asked && event == self->way->goal->write && self->left[variable] > 1;
    return !unread && !waits;
}

static bool can_acquire(const line_up *self, uint32_t event)
{
    const mr_trace *trace = self->way->trace;
    uint32_t lock = trace->operand[event];
    if (!mr_standing_is_outermost(trace, event))
        return true;
    if (event == self->way->open[lock] && self->sections[lock])
        return false;
    return mr_standing_can_acquire(&self->standing, trace, event);
}

static bool is_done(const line_up *self, uint32_t event)
{
    const way *r = self->way;
    return r->index->number[event] < self->next[r->trace->thread[event]];
}

static bool can_run(const line_up *self, uint32_t event)
{
    const mr_trace *trace = self->way->trace;
    uint8_t op = trace->op[event];
    uint32_t thread = trace->thread[event], fork = trace->thread_info[thread].fork;
    if (self->way->index->number[event] == 0 && fork != MR_NONE && !is_done(self, fork))
        return false;
    if (mr_op_reads(op) && !can_read(self, event))
        return false;
    if (mr_op_is_access(op) && mr_op_writes(op) && !can_write(self, event))
        return false;
    if (mr_op_acquires(op) && !can_acquire(self, event))
        return false;
    if (mr_op_takes(op) && trace->link[event] < trace->event_count &&
        !is_done(self, trace->link[event]))
        return false;
    if (mr_op_joins(op)) {
        uint32_t last = trace->thread_info[trace->operand[event]].last;
        return last == MR_NONE || is_done(self, last);
    }
    return true;
}

static void run(line_up *self, uint32_t event)
{
    const mr_trace *trace = self->way->trace;
    uint8_t op = trace->op[event];
    uint32_t what = trace->operand[event];
    self->next[trace->thread[event]]++;
    if (mr_op_reads(op)) {
        uint32_t *unread = trace->link[event] == MR_NONE ? &self->no_write[what]
                                                         : &self->unread[trace->link[event]];
        --*unread;
    }
    if (mr_op_is_access(op) && mr_op_writes(op))
        self->left[what]--;
    if (mr_standing_is_outermost(trace, event))
        self->sections[what] -= event != self->way->open[what];
    mr_standing_take(&self->standing, trace, event);
}

/* The earliest event of the trace that can be next; MR_NONE: none can. */
static uint32_t choose(const line_up *self)
{
    const way *r = self->way;
    uint32_t best = MR_NONE;
    for (uint32_t t = 0; t < r->trace->threads.count; t++) {
        if (self->next[t] == r->need[t])
            continue;
        uint32_t event = r->index->events[r->index->first[t] + self->next[t]];
        if (event < best && can_run(self, event))
            best = event;
    }
    return best;
}

static void count(line_up *self)
{
    const way *r = self->way;
    const mr_trace *trace = r->trace;
    for (uint32_t t = 0; t < trace->threads.count; t++) {
        for (uint32_t i = 0; i < r->need[t]; i++) {
            uint32_t event = r->index->events[r->index->first[t] + i];
            uint32_t what = trace->operand[event];
            uint8_t op = trace->op[event];
            if (mr_op_reads(op) && trace->link[event] == MR_NONE)
                self->no_write[what]++;
            else if (mr_op_reads(op))
                self->unread[trace->link[event]]++;
            if (mr_op_is_access(op) && mr_op_writes(op))
                self->left[what]++;
            if (mr_standing_is_outermost(trace, event) && event != r->open[what])
                self->sections[what]++;
        }
    }
}

static bool make_line(line_up *self)
{
    const mr_trace *trace = self->way->trace;
    self->next = mr_calloc(trace->threads.count + 1ull, sizeof *self->next);
    self->unread = mr_calloc(trace->event_count + 1ull, sizeof *self->unread);
    self->no_write = mr_calloc(trace->variables.count + 1ull, sizeof *self->no_write);
    self->left = mr_calloc(trace->variables.count + 1ull, sizeof *self->left);
    self->sections = mr_calloc(trace->locks.count + 1ull, sizeof *self->sections);
    return mr_standing_make(&self->standing, trace) && self->next && self->unread &&
           self->no_write && self->left && self->sections;
}

static void free_line(line_up *self)
{
    mr_standing_free(&self->standing);
    free(self->next);
    free(self->unread);
    free(self->no_write);
    free(self->left);
    free(self->sections);
}

/* Is the goal there after all that came? */
static bool holds(const line_up *self)
{
    const way *r = self->way;
    if (r->goal->last == MR_WAY_ANY)
        return true;
    uint32_t variable = r->trace->operand[r->goal->stops[0]];
    return self->standing.last[variable] ==
           (r->goal->last == MR_WAY_WRITE ? r->goal->write : MR_NONE);
}

static mr_way_answer put_in_order(way *r, mr_u32s *events)
{
    line_up self = {.way = r, .asked = MR_NONE};
    uint64_t total = 0;
    if (r->goal->last == MR_WAY_WRITE)
        self.asked = r->trace->operand[r->goal->write];
    for (uint32_t t = 0; t < r->trace->threads.count; t++)
        total += r->need[t];
    mr_way_answer reached = make_line(&self) ? MR_WAY_FOUND : MR_WAY_NO_MEMORY;
    if (reached == MR_WAY_FOUND)
        count(&self);
    for (uint64_t i = 0; i < total && reached == MR_WAY_FOUND; i++) {
        uint32_t event = choose(&self);
        if (event == MR_NONE) {
            reached = MR_WAY_NONE;
        } else {
            run(&self, event);
            reached = mr_u32s_push(events, event) ? MR_WAY_FOUND : MR_WAY_NO_MEMORY;
        }
    }
    if (reached == MR_WAY_FOUND && !holds(&self))
        reached = MR_WAY_NONE;
    free_line(&self);
    return reached;
}

mr_way_answer mr_way(const mr_trace *trace, const mr_way_index *index, const mr_way_goal *goal,
                     mr_u32s *events)
{
    way self = {.trace = trace, .index = index, .goal = goal};
    mr_way_answer reached = MR_WAY_NO_MEMORY;
    events->count = 0;
    self.need = mr_calloc(trace->threads.count + 1ull, sizeof *self.need);
    self.looked = mr_calloc(trace->threads.count + 1ull, sizeof *self.looked);
    self.limit = mr_malloc((trace->threads.count + 1ull) * sizeof *self.limit, 0);
    self.open = mr_malloc((trace->locks.count + 1ull) * sizeof *self.open, 0);
    self.last_open = mr_malloc((trace->locks.count + 1ull) * sizeof *self.last_open, 0);
    if (self.need && self.looked && self.limit && self.open && self.last_open) {
        memset(self.limit, 0xFF, (trace->threads.count + 1ull) * sizeof *self.limit);
        reached = find_events(&self) ? put_in_order(&self, events) : MR_WAY_NONE;
    }
    free(self.need);
    free(self.looked);
    free(self.limit);
    free(self.open);
    free(self.last_open);
    return reached;
}
