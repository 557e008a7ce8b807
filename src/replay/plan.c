#include "plan.h"

#include "base/memory.h"
#include "runtime/log.h"
#include "trace/address_name.h"
#include "trace/op.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {
#define MR_KIND_NAME(name, words) [MR_LOG_##name] = #name,
    MR_LOG_KIND_MAP(MR_KIND_NAME)
#undef MR_KIND_NAME
};

/* How a thread came to be. */
typedef struct birth {
    uint32_t parent, nth; /* as in runtime/schedule.h; UINT32_MAX: nobody created it */
    bool is_there;        /* it has an event */
} birth;

typedef struct writing {
    const mr_plan *plan;
    FILE *file; /* NULL: only count */
    birth *births;
    uint32_t role_count;
    uint64_t *expected; /* by role: how many operations are described … */
    uint64_t *next;     /* … and the position after the last of them */
    uint32_t *poster;   /* by lock: the thread of its last post */
    /* By variable: the event that made the task which it stands for, plus 1; 0: it stands for none. */
    uint32_t *maker;
    bool *looks;      /* by event: the look at an object with which an operation begins */
    uint64_t *run_to; /* by event: the position up to which its thread runs with it */
    uint32_t *then;   /* by event: of a read, the next event of its thread; 0: none */
    uint64_t steps, wakes;
    uint32_t running; /* the role that runs, UINT32_MAX: none */
    uint64_t until;   /* … up to this position */
    bool beyond;      /* what follows is not in the witness: no values */
    bool failed;      /* no memory */
} writing;

uint32_t mr_plan_thread(const mr_trace *trace, uint32_t thread)
{
    const char *name = trace->threads.items[thread].text;
    return (uint32_t)strtoul(name + strcspn(name, "0123456789"), NULL, 10);
}

static uint64_t position_of(const mr_plan *plan, uint32_t event)
{
    return plan->positions->position[event];
}

/* Where a thread can stop for the event: its begin is no operation, so that stops before the first one. */
static uint32_t place_to_stop(const mr_trace *trace, uint32_t event)
{
    uint32_t next = event;
    while (next < trace->event_count && trace->op[event] == MR_OP_BEGIN &&
           (next == event || trace->thread[next] != trace->thread[event]))
        next++;
    return next < trace->event_count ? next : event;
}

mr_status mr_plan_init(mr_plan *plan, uint32_t stop_at, mr_error *error)
{
    const mr_witness *witness = plan->witness;
    plan->event_count = UINT32_MAX;
    plan->stop_count = 0;
    if (stop_at != UINT32_MAX) {
        uint32_t i = 0;
        while (i < witness->event_count && witness->events[i] != stop_at)
            i++;
        bool is_goal = stop_at == witness->first || stop_at == witness->second;
        if (i == witness->event_count && !is_goal)
            return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                                "--stop-at: the witness has no event %" PRIu32, stop_at);
        plan->event_count = i;
        uint32_t at = place_to_stop(plan->trace, stop_at);
        plan->stops[plan->stop_count++] =
            (mr_plan_stop){.event = at, .position = position_of(plan, at)};
        return MR_OK;
    }
    uint32_t count;
    const uint32_t *stops = mr_witness_stops(witness, &count);
    for (uint32_t i = 0; i < count && i < MR_PLAN_STOPS; i++)
        plan->stops[plan->stop_count++] =
            (mr_plan_stop){.event = stops[i], .position = position_of(plan, stops[i])};
    return MR_OK;
}

/* ---- what is written ---- */

static void flush_run(writing *self)
{
    if (self->running == UINT32_MAX)
        return;
    self->steps++;
    if (self->file)
        fprintf(self->file, "run %" PRIu32 " %" PRIu64 "\n", self->running, self->until);
    self->running = UINT32_MAX;
}

static unsigned kind_of_code(const mr_plan *plan, uint32_t event)
{
    return mr_code_kind(plan->positions->codes[plan->positions->code[event]]);
}

/* Does the name of the event's variable end so? */
static bool ends_with(const mr_plan *plan, uint32_t event, const char *end)
{
    const char *name = mr_names_display(&plan->trace->variables, plan->trace->operand[event]);
    size_t bytes = strlen(name), end_bytes = strlen(end);
    return bytes > end_bytes && strcmp(name + bytes - end_bytes, end) == 0;
}

/* The value that the witness promises for the operation of the event. */
static bool promised(const mr_plan *plan, uint32_t event, int64_t *value)
{
    const mr_trace *trace = plan->trace;
    uint8_t op = trace->op[event];
    uint64_t code = plan->positions->codes[plan->positions->code[event]];
    if (!mr_op_is_access(op) || !mr_code_is_whole(code) || plan->witness->model == MR_MODEL_BRANCH)
        return false;
    uint32_t number =
        mr_op_reads(op) ? mr_trace_read_value(trace, event) : mr_trace_written_value(trace, event);
    *value = trace->values[number];
    return number != 0 && !(mr_address_is_likely(*value) && mr_address_uses(*value));
}

/* Is it the first operation of a handler of a signal? What waits for a signal has a code address. */
static bool begins_handler(const mr_trace *trace, uint32_t event, uint64_t code)
{
    static const char signal[] = "signal.";
    return mr_code_kind(code) == MR_LOG_AFTER && !mr_code_module(code) && !mr_code_offset(code) &&
           mr_op_is_access(trace->op[event]) &&
           strncmp(mr_names_display(&trace->variables, trace->operand[event]), signal,
                   sizeof signal - 1) == 0;
}

/* What libc, GLib or the loader does with memory of its own is no operation (record/positions.h): it may be done once for many calls. */
static bool is_operation(const mr_plan *plan, uint32_t event)
{
    uint64_t code = plan->positions->codes[plan->positions->code[event]];
    size_t module = mr_code_module(code);
    unsigned kind = mr_code_kind(code);
    return (kind != MR_LOG_GIVEN && kind != MR_LOG_TAKEN) || module == 0 ||
           module > plan->run->module_count ||
           !mr_log_allocates(plan->run->modules[module - 1].path);
}

/* That a thread has ended is an event of its own; its operation is the end. */
static bool tells_of_end(const mr_plan *plan, uint32_t event)
{
    uint64_t code = plan->positions->codes[plan->positions->code[event]];
    return mr_code_kind(code) == MR_LOG_BEFORE && !mr_code_module(code) && !mr_code_offset(code);
}

/* The task that a thread of OpenMP takes is named by the operation that made it. */
static void tell_task(const writing *self, uint32_t event)
{
    const mr_plan *plan = self->plan;
    const mr_trace *trace = plan->trace;
    bool takes = trace->op[event] == MR_OP_ATOMIC_READ &&
                 kind_of_code(plan, event) == MR_LOG_AFTER && self->maker[trace->operand[event]];
    if (takes) {
        uint32_t made = self->maker[trace->operand[event]] - 1;
        fprintf(self->file, "task %" PRIu32 " %" PRIu64 " %" PRIu32 " %" PRIu64 "\n",
                mr_plan_thread(trace, trace->thread[event]), position_of(plan, event),
                mr_plan_thread(trace, trace->thread[made]), position_of(plan, made));
    }
}

static void expect(writing *self, uint32_t event)
{
    const mr_plan *plan = self->plan;
    uint32_t role = mr_plan_thread(plan->trace, plan->trace->thread[event]);
    uint64_t position = position_of(plan, event);
    uint64_t code = plan->positions->codes[plan->positions->code[event]];
    int64_t value;
    /* Another event of the same operation? */
    if (position < self->next[role] || !is_operation(plan, event) || tells_of_end(plan, event))
        return;
    self->next[role] = position + 1;
    self->expected[role]++;
    if (!self->file)
        return;
    fprintf(self->file, "at %" PRIu32 " %" PRIu64 " %s ", role, position,
            kind_names[mr_code_kind(code) % MR_LOG_KIND_COUNT]);
    if (mr_code_module(code))
        fprintf(self->file, "%u", mr_code_module(code) - 1);
    else
        fputs("-", self->file);
    fprintf(self->file, " 0x%" PRIx64, mr_code_offset(code));
    if (!self->beyond && promised(plan, event, &value))
        fprintf(self->file, " %" PRId64, value);
    fputs("\n", self->file);
    if (begins_handler(plan->trace, event, code))
        fprintf(self->file, "handler %" PRIu32 " %" PRIu64 "\n", role, position);
    tell_task(self, event);
}

/* Who is woken: a wait for a unit of another thread's. */
static void note_units(writing *self, uint32_t event)
{
    const mr_plan *plan = self->plan;
    const mr_trace *trace = plan->trace;
    uint32_t thread = trace->thread[event], lock = trace->operand[event];
    if (mr_op_gives(trace->op[event])) {
        self->poster[lock] = thread;
    } else if (trace->op[event] == MR_OP_WAIT && self->poster[lock] != UINT32_MAX &&
               self->poster[lock] != thread) {
        self->wakes++;
        if (self->file)
            fprintf(self->file, "wake %" PRIu32 " %" PRIu64 " %" PRIu32 "\n",
                    mr_plan_thread(trace, thread), position_of(plan, event),
                    mr_plan_thread(trace, self->poster[lock]));
    }
}

/* Where the thread of the event stops for the goal, which is before a whole operation; UINT64_MAX: nowhere. */
static uint64_t stop_of(const mr_plan *plan, uint32_t event)
{
    uint64_t first = UINT64_MAX;
    for (unsigned i = 0; i < plan->stop_count; i++)
        if (plan->trace->thread[event] == plan->trace->thread[plan->stops[i].event] &&
            plan->stops[i].position < first)
            first = plan->stops[i].position;
    return first;
}

static void step(writing *self, uint32_t event)
{
    const mr_plan *plan = self->plan;
    uint32_t role = mr_plan_thread(plan->trace, plan->trace->thread[event]);
    uint64_t most = stop_of(plan, event);
    expect(self, event);
    if (position_of(plan, event) >= most || self->looks[event])
        return;
    note_units(self, event);
    if (role != self->running)
        flush_run(self);
    self->running = role;
    self->until = self->run_to[event] < most ? self->run_to[event] : most;
}

static void word(writing *self, const char *text)
{
    self->steps++;
    if (self->file)
        fprintf(self->file, "%s\n", text);
}

static void stop(writing *self, const mr_plan_stop *at)
{
    expect(self, at->event);
    self->steps++;
    if (self->file)
        fprintf(self->file, "stop %" PRIu32 " %" PRIu64 "%s\n",
                mr_plan_thread(self->plan->trace, self->plan->trace->thread[at->event]),
                at->position, at->any_place ? " any" : "");
}

/* What each thread would do next: nobody may help beyond that. */
static void expect_next(writing *self)
{
    const mr_trace *trace = self->plan->trace;
    bool *told = mr_calloc(trace->threads.count + 1ull, sizeof *told);
    for (uint32_t event = 0; told && event < trace->event_count; event++) {
        uint32_t role = mr_plan_thread(trace, trace->thread[event]);
        if (told[trace->thread[event]] || position_of(self->plan, event) < self->next[role])
            continue;
        told[trace->thread[event]] = true;
        expect(self, event);
    }
    self->failed = self->failed || !told;
    free(told);
}

static void do_access(writing *self, uint32_t event)
{
    self->running = mr_plan_thread(self->plan->trace, self->plan->trace->thread[event]);
    self->until = position_of(self->plan, event) + 1;
    flush_run(self);
}

static void write_steps(writing *self, mr_plan_then then)
{
    const mr_plan *plan = self->plan;
    const mr_witness *witness = plan->witness;
    uint32_t count =
        plan->event_count < witness->event_count ? plan->event_count : witness->event_count;
    self->steps = self->wakes = 0;
    self->beyond = false;
    self->running = UINT32_MAX;
    memset(self->expected, 0, self->role_count * sizeof *self->expected);
    memset(self->next, 0, self->role_count * sizeof *self->next);
    memset(self->poster, 0xFF, plan->trace->locks.count * sizeof *self->poster);
    for (uint32_t event = 0; event < witness->window_start; event++)
        step(self, event);
    for (uint32_t i = 0; i < count; i++)
        step(self, witness->events[i]);
    flush_run(self);
    self->beyond = true;
    for (unsigned i = 0; i < plan->stop_count; i++)
        stop(self, &plan->stops[i]);
    expect_next(self);
    word(self, "goal");
    if (then == MR_PLAN_HOLD)
        word(self, "hold");
    for (unsigned i = 0; then != MR_PLAN_END && i < plan->stop_count; i++)
        do_access(self, plan->stops[then == MR_PLAN_SECOND ? plan->stop_count - 1 - i : i].event);
    if (then == MR_PLAN_FIRST && plan->go_on && plan->stop_count) {
        uint32_t last = plan->stops[plan->stop_count - 1].event;
        self->running = mr_plan_thread(plan->trace, plan->trace->thread[last]);
        self->until = position_of(plan, last) + 1 + plan->go_on;
        flush_run(self);
    }
}

/* Who created whom, and as the how many-th. */
static void find_births(writing *self)
{
    const mr_trace *trace = self->plan->trace;
    for (uint32_t event = 0; event < trace->event_count; event++) {
        birth *its = &self->births[mr_plan_thread(trace, trace->thread[event])];
        its->is_there = true;
        if (trace->op[event] != MR_OP_FORK)
            continue;
        uint32_t role = mr_plan_thread(trace, trace->thread[event]);
        birth *child = &self->births[mr_plan_thread(trace, trace->operand[event])];
        child->parent = role;
        child->nth = (uint32_t)++self->expected[role];
    }
}

/* Which task was made by which event. */
static void find_makers(writing *self)
{
    const mr_trace *trace = self->plan->trace;
    for (uint32_t event = 0; event < trace->event_count; event++)
        if (trace->op[event] == MR_OP_ATOMIC_UPDATE &&
            kind_of_code(self->plan, event) == MR_LOG_BEFORE &&
            ends_with(self->plan, event, ".task"))
            self->maker[trace->operand[event]] = event + 1;
}

static void write_modules(const writing *self)
{
    const mr_run_info *run = self->plan->run;
    for (size_t i = 0; i < run->module_count; i++)
        fprintf(self->file, "module %zu 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 " %s %s\n", i,
                run->modules[i].start, run->modules[i].end, run->modules[i].bias,
                run->modules[i].build_id, run->modules[i].path);
}

static void write_threads(const writing *self)
{
    const mr_trace *trace = self->plan->trace;
    for (uint32_t t = 0; t < trace->threads.count; t++) {
        uint32_t role = mr_plan_thread(trace, t);
        const birth *its = &self->births[role];
        if (!its->is_there)
            continue;
        fprintf(self->file, "thread %" PRIu32 " ", role);
        if (its->parent == UINT32_MAX)
            fputs("-", self->file);
        else
            fprintf(self->file, "%" PRIu32, its->parent);
        fprintf(self->file, " %" PRIu32 " %s\n", its->nth, mr_names_display(&trace->threads, t));
    }
}

static bool is_read(uint8_t op)
{
    return mr_op_is_access(op) && !mr_op_writes(op);
}

/* Does a call come to know by the event what it has read, or that nothing is there? It has used its descriptor just before. */
static bool is_of_call(const mr_plan *plan, uint32_t event)
{
    return mr_code_kind(plan->positions->codes[plan->positions->code[event]]) == MR_LOG_AFTER;
}

/* A call that writes to a pipe or a socket sees that the other end is open, by the first of these events, and writes by the second
 * one. */
static bool is_look_of_write(const mr_plan *plan, uint32_t look, uint32_t event)
{
    uint64_t first = plan->positions->codes[plan->positions->code[look]];
    uint64_t second = plan->positions->codes[plan->positions->code[event]];
    return mr_code_kind(first) == MR_LOG_AFTER && mr_code_kind(second) == MR_LOG_BEFORE &&
           mr_code_module(first) == mr_code_module(second) &&
           mr_code_offset(first) == mr_code_offset(second) && ends_with(plan, look, ".closed");
}

/* A thread that depends on tasks of OpenMP comes after each of them when all have ended, in one go. */
static bool is_after_task(const mr_plan *plan, uint32_t event)
{
    return plan->trace->op[event] == MR_OP_ATOMIC_READ && is_of_call(plan, event) &&
           ends_with(plan, event, ".task.ended");
}

/* With the event its thread goes on to its next one, but never stops before the operation of the event itself: a cancellation point is an
 * operation without the use of a descriptor before it. */
static void run_on(writing *self, uint32_t event, uint32_t next)
{
    uint64_t position = position_of(self->plan, next) - is_of_call(self->plan, next);
    if (self->run_to[event] < position)
        self->run_to[event] = position;
}

/* A function of locks, semaphores or barriers reads the object and then has its effect, in one
 * operation. That is done where the effect stands in the witness: at the read, other threads may still
 * come between. So it is with a write to a pipe, which is two operations of one call, and with the use of
 * a pointer, which is the access behind it. That a thread comes after a task is done with what follows: the thread
 * waits for other tasks, too. In a waiting loop a read, or an exchange that failed, stands for others that follow it
 * and see the same write; they are done with it, before another thread writes. */
static bool find_looks(writing *self)
{
    const mr_plan *plan = self->plan;
    const mr_trace *trace = plan->trace;
    uint32_t *last = mr_calloc(trace->threads.count + 1ull, sizeof *last);
    self->looks = mr_calloc(trace->event_count + 1ull, sizeof *self->looks);
    self->run_to = mr_calloc(trace->event_count + 1ull, sizeof *self->run_to);
    self->then = mr_calloc(trace->event_count + 1ull, sizeof *self->then);
    bool ok = last && self->looks && self->run_to && self->then;
    for (uint32_t event = 0; ok && event < trace->event_count; event++) {
        uint32_t *before = &last[trace->thread[event]]; /* plus 1; 0: none */
        bool same = *before && position_of(plan, *before - 1) == position_of(plan, event);
        if (same && (trace->op[*before - 1] == MR_OP_DEREF ||
                     (!is_read(trace->op[event]) && is_read(trace->op[*before - 1]))))
            self->looks[*before - 1] = true;
        else if (*before && is_after_task(plan, *before - 1))
            self->looks[*before - 1] = true;
        else if (*before && is_read(trace->op[*before - 1]) &&
                 position_of(plan, *before - 1) + 1 == position_of(plan, event) &&
                 is_look_of_write(plan, *before - 1, event))
            self->looks[*before - 1] = true;
        else if (*before && is_read(trace->op[*before - 1]) &&
                 (is_read(trace->op[event]) || trace->op[event] == MR_OP_ATOMIC_UPDATE) &&
                 trace->operand[event] == trace->operand[*before - 1])
            run_on(self, *before - 1, event);
        else if (*before && is_read(trace->op[*before - 1]))
            self->then[*before - 1] = event;
        self->run_to[event] = position_of(plan, event) + is_operation(plan, event);
        *before = event + 1;
    }
    free(last);
    return ok;
}

/* The next event of the witness, or before its window. */
static uint32_t event_at(const mr_plan *plan, uint64_t number)
{
    uint32_t start = plan->witness->window_start;
    return number < start ? (uint32_t)number : plan->witness->events[number - start];
}

/* A read may stand for others that follow it and see the same write (record/repeats.h), among accesses that have no event either. Where
 * another thread writes before the next event of the reading one, they are done with the read. */
static bool find_repeats(writing *self)
{
    const mr_trace *trace = self->plan->trace;
    const mr_witness *witness = self->plan->witness;
    uint32_t threads = trace->threads.count;
    uint32_t *last = mr_calloc(threads + 1ull, sizeof *last); /* by thread: its read, plus 1 */
    uint32_t *readers = mr_calloc(trace->variables.count + 1ull, sizeof *readers);
    bool ok = last && readers;
    uint64_t count = ok ? (uint64_t)witness->window_start + witness->event_count : 0;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t event = event_at(self->plan, i), *mine = &last[trace->thread[event]];
        uint32_t variable = trace->operand[event];
        if (*mine)
            readers[trace->operand[*mine - 1]]--;
        *mine = self->then[event] ? event + 1 : 0;
        if (*mine)
            readers[variable]++;
        bool writes = mr_op_is_access(trace->op[event]) && mr_op_writes(trace->op[event]);
        for (uint32_t t = 0; writes && readers[variable] && t < threads; t++)
            if (last[t] && trace->operand[last[t] - 1] == variable)
                run_on(self, last[t] - 1, self->then[last[t] - 1]);
    }
    free(last);
    free(readers);
    return ok;
}

/* How to run the program: for those who start it. */
static void write_run(const writing *self)
{
    const mr_run_info *run = self->plan->run;
    mr_bytes lines = {.items = NULL};
    char seed[32];
    mr_run_info_again(&lines, run);
    snprintf(seed, sizeof seed, "%" PRIu64, run->seed);
    mr_run_line(&lines, "seed", seed);
    if (run->schedule)
        mr_run_line(&lines, "schedule", run->schedule);
    if (!lines.failed)
        fwrite(lines.items, 1, lines.count, self->file);
    mr_bytes_free(&lines);
}

static void write_head(const writing *self)
{
    fputs("maxrace schedule 1\n", self->file);
    write_run(self);
    if (self->plan->is_loose)
        fputs("loose\n", self->file);
    fprintf(self->file, "count %zu %" PRIu32 " %" PRIu64 " %" PRIu64 "\n",
            self->plan->run->module_count, self->role_count, self->steps, self->wakes);
    write_modules(self);
    write_threads(self);
    for (uint32_t role = 0; role < self->role_count; role++)
        if (self->expected[role])
            fprintf(self->file, "expect %" PRIu32 " %" PRIu64 "\n", role, self->expected[role]);
}

static bool make_room(writing *self)
{
    const mr_trace *trace = self->plan->trace;
    for (uint32_t t = 0; t < trace->threads.count; t++) {
        uint32_t role = mr_plan_thread(trace, t);
        self->role_count = role >= self->role_count ? role + 1 : self->role_count;
    }
    self->births = mr_calloc(self->role_count + 1ull, sizeof *self->births);
    self->expected = mr_calloc(self->role_count + 1ull, sizeof *self->expected);
    self->next = mr_calloc(self->role_count + 1ull, sizeof *self->next);
    self->poster = mr_calloc(trace->locks.count + 1ull, sizeof *self->poster);
    self->maker = mr_calloc(trace->variables.count + 1ull, sizeof *self->maker);
    if (!self->births || !self->expected || !self->next || !self->poster || !self->maker)
        return false;
    for (uint32_t role = 0; role < self->role_count; role++)
        self->births[role].parent = UINT32_MAX;
    return true;
}

mr_status mr_plan_write(const mr_plan *plan, mr_plan_then then, FILE *file, mr_error *error)
{
    writing self = {.plan = plan};
    bool ok = make_room(&self) && find_looks(&self) && find_repeats(&self);
    if (ok) {
        find_births(&self);
        find_makers(&self);
        write_steps(&self, then); /* counts */
        self.file = file;
        write_head(&self);
        write_steps(&self, then);
    }
    free(self.births);
    free(self.expected);
    free(self.next);
    free(self.poster);
    free(self.maker);
    free(self.looks);
    free(self.run_to);
    free(self.then);
    if (!ok || self.failed)
        return mr_error_memory(error, "writing the schedule");
    if (ferror(file) || fflush(file) != 0)
        return mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot write the schedule: %s",
                            strerror(errno ? errno : EIO));
    return MR_OK;
}
