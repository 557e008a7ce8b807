/*
 * schedule_table: prints a witness as a table, one line for each event. Up to COLUMNS_MAX threads
 * have a column each, so that a switch is a step to another column. With more threads, the table
 * names a thread where it takes over.
 */
#include "schedule_table.h"

#include "base/assert.h"
#include "findings.h"
#include "line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX  4
#define GUTTER       12 /* mark and event number */
#define RUN_EDGE     1  /* events kept at each end of a run of one thread */
#define RUN_HIDE_MIN 3  /* a stretch of fewer events is never hidden */
#define LAST_KEPT    6  /* events kept before the race */
#define ROWS_HEAD    6  /* lines kept at the start of a schedule that is still long */
#define ROWS_TAIL    12 /* and at its end */
#define ROWS_BETWEEN 6  /* lines about the variable of the race that are kept between them */
#define SOURCE_WIDTH 50 /* by which lines are longer when they show the source */

typedef struct table {
    FILE *stream;
    const mr_trace *trace;
    const mr_witness *witness;
    uint32_t *seen; /* one an event of the schedule: the write that it sees */
    bool *keep;     /* one an event of the schedule */
    uint32_t threads[COLUMNS_MAX];
    uint32_t thread_count; /* COLUMNS_MAX + 1: more threads than columns */
    size_t note_column;
    uint32_t last_thread; /* list form: thread of the line before */
    const mr_schedule_view *view;
    size_t width;              /* of a line */
    uint32_t variable, object; /* that the finding is about, or MR_NONE */
} table;

/* What stands at the event of the schedule that the finding is about. */
static const char *mark_of(mr_witness_kind kind)
{
    switch (kind) {
    case MR_WITNESS_USE_AFTER_FREE:
        return "FREE";
    case MR_WITNESS_NULL:
    case MR_WITNESS_DANGLING:
    case MR_WITNESS_DOUBLE_FREE:
    case MR_WITNESS_SEES:
        return "SEEN BELOW";
    case MR_WITNESS_RACE:
    case MR_WITNESS_MEMORY_ORDER:
    case MR_WITNESS_DEADLOCK:
    case MR_WITNESS_KINDS:
        break;
    }
    return "RACE";
}

/* The event of the schedule that the finding is about, or MR_NONE. */
static uint32_t marked(const table *self)
{
    return self->witness->kind == MR_WITNESS_DEADLOCK ? MR_NONE : self->witness->first;
}

static uint32_t event_thread(const table *self, uint32_t index)
{
    return self->trace->thread[self->witness->events[index]];
}

static int find_column(const table *self, uint32_t thread)
{
    for (uint32_t i = 0; i < self->thread_count && i < COLUMNS_MAX; i++)
        if (self->threads[i] == thread)
            return (int)i;
    return -1;
}

static void add_thread(table *self, uint32_t thread)
{
    if (self->thread_count > COLUMNS_MAX || find_column(self, thread) >= 0)
        return;
    if (self->thread_count < COLUMNS_MAX)
        self->threads[self->thread_count] = thread;
    self->thread_count++;
}

static bool side_by_side(const table *self)
{
    return self->thread_count <= COLUMNS_MAX;
}

static size_t column_width(const table *self)
{
    static const size_t widths[COLUMNS_MAX + 1] = {0, 24, 24, 17, 14};
    if (!side_by_side(self) || self->thread_count == 0)
        return 14;
    size_t width = widths[self->thread_count], count = self->thread_count;
    if (self->width < MR_LINE_WIDTH)
        return width - (MR_LINE_WIDTH - self->width) / (2 * count);
    size_t more = (self->width - MR_LINE_WIDTH) / (2 * count);
    return width + (more < 12 ? more : 12);
}

/* The column of the line where the operations of the thread stand. */
static size_t column_of(const table *self, uint32_t thread)
{
    int column = find_column(self, thread);
    MR_ASSERT(column >= 0); /* every thread of the schedule was added */
    return GUTTER + 2 + (size_t)column * column_width(self);
}

/* Is it an access of the variable that the finding is about? */
static bool is_about(const table *self, uint32_t index)
{
    uint32_t event = self->witness->events[index];
    return mr_op_operand_kind((mr_op)self->trace->op[event]) == MR_OPERAND_VARIABLE &&
           self->trace->operand[event] == self->variable;
}

/* Does a wait of the deadlock need the lock? */
static bool is_waited_for(const table *self, uint32_t lock)
{
    for (uint32_t i = 0; i < self->witness->wait_count; i++)
        if (self->trace->operand[self->witness->waits[i]] == lock)
            return true;
    return false;
}

/* Is the event always shown? Such events are accesses of the variable of the finding, the alloc and the
 * free of its object, acquires and releases of the locks of a deadlock, starts and ends of threads, and
 * reads that see another write than in the trace. */
static bool interesting(const table *self, uint32_t index)
{
    const mr_trace *trace = self->trace;
    uint32_t event = self->witness->events[index];
    mr_op op = (mr_op)trace->op[event];
    switch (mr_op_operand_kind(op)) {
    case MR_OPERAND_VARIABLE:
        return is_about(self, index) ||
               (op == MR_OP_READ && self->seen[index] != trace->link[event]);
    case MR_OPERAND_THREAD:
        return true;
    case MR_OPERAND_OBJECT:
        return trace->operand[event] == self->object;
    case MR_OPERAND_LOCK:
        return is_waited_for(self, trace->operand[event]);
    case MR_OPERAND_NONE:
    case MR_OPERAND_CALL:
        break;
    }
    return false;
}

/* Chooses the lines of [from, to), events of one thread in a row. */
static void choose_in_run(table *self, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        bool edge = i < from + RUN_EDGE || i + RUN_EDGE >= to;
        bool last = i + LAST_KEPT >= self->witness->event_count;
        self->keep[i] = edge || last || interesting(self, i);
    }
}

/* Shows hidden stretches that are too short to hide. */
static void show_short_gaps(table *self)
{
    uint32_t count = self->witness->event_count, gap = 0;
    for (uint32_t i = 0; i <= count; i++) {
        if (i < count && !self->keep[i]) {
            gap++;
            continue;
        }
        if (gap < RUN_HIDE_MIN)
            for (uint32_t j = i - gap; j < i; j++)
                self->keep[j] = true;
        gap = 0;
    }
}

/* Hides the middle of a schedule that is still long. */
static void hide_middle(table *self)
{
    uint32_t count = self->witness->event_count, kept = 0, rank = 0, between = 0;
    for (uint32_t i = 0; i < count; i++)
        kept += self->keep[i];
    if (kept <= ROWS_HEAD + ROWS_BETWEEN + ROWS_TAIL + RUN_HIDE_MIN)
        return;
    for (uint32_t i = 0; i < count; i++) {
        if (!self->keep[i])
            continue;
        bool edge = rank < ROWS_HEAD || rank + ROWS_TAIL >= kept ||
                    self->witness->events[i] == marked(self);
        self->keep[i] = edge || (between < ROWS_BETWEEN && is_about(self, i));
        between += !edge && self->keep[i];
        rank++;
    }
}

static void choose_rows(table *self)
{
    uint32_t count = self->witness->event_count, from = 0;
    for (uint32_t i = 1; i <= count; i++) {
        if (i < count && event_thread(self, i) == event_thread(self, from))
            continue;
        choose_in_run(self, from, i);
        from = i;
    }
    if (self->view->show == MR_SCHEDULE_FULL) {
        memset(self->keep, true, count * sizeof *self->keep);
        return;
    }
    show_short_gaps(self);
    hide_middle(self);
}

/* "T1 (worker)" */
static void print_thread_name(const table *self, uint32_t thread, char *buffer, size_t size_bytes)
{
    const mr_name *name = &self->trace->threads.items[thread];
    if (name->display != NULL)
        snprintf(buffer, size_bytes, "%s (%s)", name->text, name->display);
    else
        snprintf(buffer, size_bytes, "%s", name->text);
}

static void print_heading(table *self)
{
    mr_line line;
    char name[256];
    mr_line_clear(&line, self->width);
    mr_line_add(&line, "       event", GUTTER);
    mr_line_pad(&line, GUTTER + 2);
    if (!side_by_side(self)) {
        mr_line_add(&line, "thread", column_width(self));
        mr_line_pad(&line, GUTTER + 2 + column_width(self));
        mr_line_add(&line, "operation", self->width);
    }
    for (uint32_t i = 0; side_by_side(self) && i < self->thread_count; i++) {
        mr_line_pad(&line, GUTTER + 2 + i * column_width(self));
        print_thread_name(self, self->threads[i], name, sizeof name);
        mr_line_add(&line, name, column_width(self) - 2);
    }
    mr_line_print(&line, self->stream);
}

/* "sees 5 of event 12": the note of a read. `seen` is the write that it sees, MR_NONE for the
 * initial value. */
static void describe_read(const table *self, uint32_t event, uint32_t seen, char *buffer,
                          size_t size_bytes)
{
    const mr_trace *trace = self->trace;
    char text[MR_TYPED_VALUE_BYTES];
    uint32_t variable = trace->operand[event];
    uint32_t value = trace->variable_info[variable].initial_value;
    MR_ASSERT(seen == MR_NONE ||
              (mr_op_writes(trace->op[seen]) && trace->operand[seen] == trace->operand[event]));
    if (seen == MR_NONE) {
        if (value != 0)
            snprintf(buffer, size_bytes, "sees %s, the initial value",
                     mr_trace_value_text(trace, variable, trace->values[value], text));
        else
            snprintf(buffer, size_bytes, "sees the initial value");
        return;
    }
    value = mr_op_updates(trace->op[seen]) ? trace->updates[trace->value[seen]].written_value
                                           : trace->value[seen];
    int length =
        value != 0
            ? snprintf(buffer, size_bytes, "sees %s of event %" PRIu32,
                       mr_trace_value_text(trace, variable, trace->values[value], text), seen)
            : -1;
    /* When the note is too long, the value is cut and not the event: the operation names the value,
     * too. */
    if (length < 0 || (size_t)length > self->width - self->note_column)
        snprintf(buffer, size_bytes, "sees event %" PRIu32, seen);
}

/* The line of the source, behind all else. */
static void add_source(const table *self, mr_line *line, const char *place)
{
    const char *text = self->view->source ? mr_source_line(self->view->source, place) : NULL;
    if (!text || mr_line_room(line) < 12)
        return;
    mr_line_pad(line, line->limit - SOURCE_WIDTH);
    mr_line_add(line, "| ", 2);
    mr_line_add(line, text, line->limit);
}

static void print_line(const table *self, const mr_line *line, mr_tone tone, bool toned)
{
    if (toned)
        mr_style_begin(self->view->style, self->stream, tone);
    mr_line_print_open(line, self->stream);
    if (toned)
        mr_style_end(self->view->style, self->stream);
    fputc('\n', self->stream);
}

/* One event: mark and number, the operation in its thread's place, a note and the location. */
static void print_event(table *self, uint32_t event, const char *mark, const char *note)
{
    const mr_trace *trace = self->trace;
    uint32_t thread = trace->thread[event];
    char text[512];
    mr_line line;
    mr_line_clear(&line, self->width + (self->view->source ? SOURCE_WIDTH : 0));
    snprintf(text, sizeof text, "%-2s%10" PRIu32, mark, event);
    mr_line_add(&line, text, GUTTER);
    mr_line_pad(&line, GUTTER + 2);
    if (side_by_side(self)) {
        mr_line_pad(&line, column_of(self, thread));
    } else if (thread != self->last_thread) {
        print_thread_name(self, thread, text, sizeof text);
        mr_line_add(&line, text, column_width(self));
        mr_line_pad(&line, GUTTER + 2 + column_width(self));
    } else {
        mr_line_pad(&line, GUTTER + 2 + column_width(self));
    }
    self->last_thread = thread;
    mr_trace_print_op(trace, event, true, text, sizeof text);
    mr_line_add(&line, text, 48);
    mr_line_pad(&line, self->note_column);
    mr_line_add(&line, note, self->width - self->note_column);
    if (note[0] != '\0')
        mr_line_pad(&line, line.width + 2);
    const char *location =
        mr_place_own(mr_names_display(&trace->locations, trace->location[event]));
    /* The heading of the race names the places of the accesses, so a place that does not fit is
     * left out. */
    size_t least = mark[0] != '\0' ? strlen(location) + 3 : 8;
    size_t room = line.width < self->width ? self->width - line.width : 0;
    if (mr_phrase_has_place(trace, trace->location[event]) && location[0] != '\0' &&
        room >= least) {
        mr_line_add(&line, "at ", 3);
        mr_line_add_tail(&line, location, room - 3);
    }
    add_source(self, &line, location);
    print_line(self, &line, mark[0] != '\0' ? MR_TONE_BAD : MR_TONE_HEAD, mark[0] != '\0');
}

/* The line that stands for the hidden events [from, to). */
static void print_gap(table *self, uint32_t from, uint32_t to)
{
    MR_ASSERT(from < to && to <= self->witness->event_count);
    uint32_t thread = event_thread(self, from);
    bool one = true;
    for (uint32_t i = from; i < to; i++)
        one = one && event_thread(self, i) == thread;
    char name[256];
    mr_line line;
    mr_line_clear(&line, self->width);
    mr_line_pad(&line, GUTTER - 3);
    mr_line_add(&line, "...", 3);
    mr_line_pad(&line, GUTTER + 2);
    if (side_by_side(self) && one)
        mr_line_pad(&line, column_of(self, thread));
    snprintf(name, sizeof name, "... %" PRIu32 " events ", to - from);
    mr_line_add(&line, name, self->width);
    if (one) {
        print_thread_name(self, thread, name, sizeof name);
        mr_line_add(&line, "of ", 3);
        mr_line_add(&line, name, 24);
        mr_line_add(&line, " ", 1);
    }
    mr_line_add(&line, "left out ...", self->width);
    print_line(self, &line, MR_TONE_DIM, true);
    self->last_thread = MR_NONE;
}

static void print_events(table *self)
{
    const mr_witness *witness = self->witness;
    for (uint32_t i = 0, gap = 0; i <= witness->event_count; i++) {
        if (i < witness->event_count && !self->keep[i]) {
            gap++;
            continue;
        }
        if (gap > 0)
            print_gap(self, i - gap, i);
        gap = 0;
        if (i == witness->event_count)
            return;
        uint32_t event = witness->events[i];
        char note[96] = "";
        if (self->trace->op[event] == MR_OP_READ)
            describe_read(self, event, self->seen[i], note, sizeof note);
        if (event == marked(self))
            print_event(self, event, "=>", mark_of(self->witness->kind));
        else
            print_event(self, event, "", note);
    }
}

/* The line of one of the two accesses. A read sees the last write before both, or the other access.
 */
static void print_access(table *self, uint32_t event, uint32_t other, const mr_sees *sees)
{
    char note[96] = "RACE";
    if (self->trace->op[event] == MR_OP_READ && !mr_op_ends_life(self->trace->op[other])) {
        uint32_t seen = mr_sees_last(sees, self->trace->operand[event]);
        if (seen == MR_NONE)
            snprintf(note, sizeof note, "RACE: sees initial or event %" PRIu32, other);
        else
            snprintf(note, sizeof note, "RACE: sees event %" PRIu32 " or %" PRIu32, seen, other);
    }
    print_event(self, event, "=>", note);
}

/* The line about the events before the table. */
static void print_start(const table *self)
{
    uint32_t start = self->witness->window_start;
    bool is_pair = self->witness->kind <= MR_WITNESS_MEMORY_ORDER;
    const char *end = self->witness->event_count > 0 ? ""
                      : is_pair                      ? " both accesses are possible"
                                                     : " nothing else is needed";
    if (start > 1)
        fprintf(self->stream, "  Events 0 to %" PRIu32 " happen as observed; then%s:\n", start - 1,
                end);
    else if (start == 1)
        fprintf(self->stream, "  Event 0 happens as observed; then%s:\n", end);
    else
        fprintf(self->stream, "  From the start%s%s:\n", end[0] != '\0' ? "," : "", end);
}

/* The ends of the threads of a deadlock: each waits for the next one. */
static void print_waits(table *self)
{
    const mr_witness *witness = self->witness;
    fputs("  Now each of these threads waits for another one of them:\n", self->stream);
    for (uint32_t i = 0; i < witness->wait_count; i++) {
        char holder[64], note[96];
        print_thread_name(self, self->trace->thread[mr_finding_next_wait(witness, i)], holder,
                          sizeof holder);
        snprintf(note, sizeof note, "WAITS for %s", holder);
        print_event(self, witness->waits[i], "=>", note);
    }
}

/* What a thread that stops before a read or an access of freed memory is about to do. */
static void print_stop(table *self)
{
    const mr_witness *witness = self->witness;
    char note[96];
    switch (witness->kind) {
    case MR_WITNESS_USE_AFTER_FREE:
        fputs("  Now the memory is freed, and this access of it is next:\n", self->stream);
        print_event(self, witness->second, "=>", "USE AFTER FREE");
        return;
    case MR_WITNESS_NULL:
        fputs("  Now this read is next, and sees 0:\n", self->stream);
        break;
    case MR_WITNESS_DANGLING:
    case MR_WITNESS_DOUBLE_FREE:
        fputs("  Now this read is next, and sees an address in freed memory:\n", self->stream);
        break;
    case MR_WITNESS_RACE:
    case MR_WITNESS_MEMORY_ORDER:
    case MR_WITNESS_DEADLOCK:
    case MR_WITNESS_SEES:
    case MR_WITNESS_KINDS:
        fputs("  Now this read is next:\n", self->stream);
        break;
    }
    describe_read(self, witness->second, witness->first, note, sizeof note);
    print_event(self, witness->second, "=>", note);
}

static void print_table(table *self, const mr_sees *sees)
{
    const mr_witness *witness = self->witness;
    print_start(self);
    print_heading(self);
    print_events(self);
    self->last_thread = MR_NONE;
    if (witness->kind == MR_WITNESS_MEMORY_ORDER) {
        fputs("  Now the second access is possible, and the first does not happen before it:\n",
              self->stream);
        print_event(self, witness->second, "=>", "RACE");
        return;
    }
    if (witness->kind == MR_WITNESS_DEADLOCK) {
        print_waits(self);
        return;
    }
    if (witness->kind != MR_WITNESS_RACE) {
        print_stop(self);
        return;
    }
    if (witness->event_count > 0)
        fputs("  Now both accesses are possible, in either order:\n", self->stream);
    print_access(self, witness->first, witness->second, sees);
    print_access(self, witness->second, witness->first, sees);
}

/* Replays the schedule and notes its threads and the write that each read sees. */
static bool replay(table *self, mr_sees *sees)
{
    const mr_witness *witness = self->witness;
    uint32_t stop_count;
    const uint32_t *stops = mr_witness_stops(witness, &stop_count);
    if (marked(self) != MR_NONE)
        add_thread(self, self->trace->thread[marked(self)]);
    for (uint32_t i = 0; i < stop_count; i++)
        add_thread(self, self->trace->thread[stops[i]]);
    mr_sees_start(sees, witness->window_start);
    for (uint32_t i = 0; i < witness->event_count; i++) {
        add_thread(self, event_thread(self, i));
        if (!mr_sees_step(sees, witness->events[i], &self->seen[i]))
            return false;
    }
    self->note_column =
        GUTTER + 4 + column_width(self) * (side_by_side(self) ? self->thread_count : 3);
    MR_ASSERT(self->note_column < self->width);
    return true;
}

/* The variable and the object that the finding is about. */
static void choose_subject(table *self)
{
    const mr_trace *trace = self->trace;
    const mr_witness *witness = self->witness;
    self->variable = self->object = MR_NONE;
    if (witness->kind == MR_WITNESS_DEADLOCK)
        return;
    if (witness->kind <= MR_WITNESS_USE_AFTER_FREE)
        self->variable = mr_pair_variable(trace, witness->first, witness->second);
    else
        self->variable = trace->operand[witness->second];
    self->object = mr_trace_object(trace, self->variable);
    if (witness->kind == MR_WITNESS_DANGLING || witness->kind == MR_WITNESS_DOUBLE_FREE)
        self->object = trace->operand[witness->freed];
}

bool mr_schedule_print(FILE *stream, const mr_witness *witness, mr_sees *sees,
                       const mr_schedule_view *view)
{
    table self = {.stream = stream, .trace = sees->trace, .witness = witness, .view = view};
    self.width = view->style.width;
    if (view->source && self.width + SOURCE_WIDTH > MR_LINE_WIDTH_MAX)
        self.width = MR_LINE_WIDTH_MAX - SOURCE_WIDTH;
    self.last_thread = MR_NONE;
    choose_subject(&self);
    self.seen = mr_calloc((size_t)witness->event_count + 1, sizeof *self.seen);
    self.keep = mr_calloc((size_t)witness->event_count + 1, sizeof *self.keep);
    bool ok = self.seen != NULL && self.keep != NULL && replay(&self, sees);
    if (ok) {
        choose_rows(&self);
        print_table(&self, sees);
    }
    free(self.seen);
    free(self.keep);
    return ok;
}

bool mr_report_schedule(FILE *stream, const mr_trace *trace, const mr_witness *witness)
{
    const mr_schedule_view view = {MR_SCHEDULE_FULL, {false, MR_LINE_WIDTH}, NULL};
    mr_sees sees;
    bool ok = mr_sees_init(&sees, trace) && mr_schedule_print(stream, witness, &sees, &view);
    mr_sees_free(&sees);
    if (!ok)
        errno = ENOMEM;
    return ok && fflush(stream) == 0 && !ferror(stream);
}
