#include "file.h"

#include "formats/pack/lines.h"
#include "formats/text/parse.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT_VERSION = 1, FORMAT_WITH_RUNS = 2 };

/* Fewer consecutive events than this are written one by one. */
enum { SHORTEST_RUN = 3 };

/* X(enumerator, word): the header lines. */
#define HEADER_MAP(X)                                                                              \
    X(WITNESS, "#@witness")                                                                        \
    X(TRACE, "#@trace")                                                                            \
    X(KIND, "#@kind")                                                                              \
    X(MODEL, "#@model")                                                                            \
    X(WINDOW, "#@window")                                                                          \
    X(FIRST, "#@first")                                                                            \
    X(SECOND, "#@second")                                                                          \
    X(FREED, "#@freed")                                                                            \
    X(WAIT, "#@wait")                                                                              \
    X(RUN, "#@run")

typedef enum header {
#define HEADER_ENUM(name, word) HEADER_##name,
    HEADER_MAP(HEADER_ENUM)
#undef HEADER_ENUM
        HEADER_COUNT
} header;

static const char *const header_words[HEADER_COUNT] = {
#define HEADER_WORD(name, word) word,
    HEADER_MAP(HEADER_WORD)
#undef HEADER_WORD
};

/* ---- writing ---- */

/* A path may hold anything; a header line may not hold a line end. */
static void write_name(FILE *stream, const char *name)
{
    for (; *name; name++)
        putc((unsigned char)*name < ' ' ? '?' : *name, stream);
}

static bool write_event(FILE *stream, const mr_trace *trace, uint32_t event)
{
    char start[2];
    size_t size = mr_trace_print_op(trace, event, false, start, sizeof start) + 1;
    char *op = mr_malloc(size, 0); /* a name may be long */
    if (!op)
        return false;
    mr_trace_print_op(trace, event, false, op, size);
    fprintf(stream, "%s|%s|%s\n", trace->threads.items[trace->thread[event]].text, op,
            trace->locations.items[trace->location[event]].text);
    free(op);
    return true;
}

/* The events of the reordering, one a line, or in runs. */
static bool write_events(FILE *stream, const mr_trace *trace, const mr_witness *w, bool in_runs)
{
    bool ok = true;
    for (uint32_t i = 0, next; i < w->event_count && ok; i = next) {
        for (next = i + 1; in_runs && next < w->event_count; next++)
            if (w->events[next] != w->events[next - 1] + 1)
                break;
        if (next - i >= SHORTEST_RUN)
            fprintf(stream, "%s %" PRIu32 " %" PRIu32 "\n", header_words[HEADER_RUN], w->events[i],
                    w->events[next - 1]);
        else
            for (uint32_t k = i; k < next && ok; k++)
                ok = write_event(stream, trace, w->events[k]);
    }
    return ok;
}

static void write_number(FILE *stream, const mr_trace *trace, header kind, uint32_t event)
{
    if (event != MR_NONE)
        fprintf(stream, "%s %" PRIu32 " %" PRIu64 "\n", header_words[kind], event,
                mr_trace_line(trace, event));
}

/* The events that the witness is about. */
static void write_numbers(FILE *stream, const mr_trace *trace, const mr_witness *w)
{
    for (uint32_t i = 0; i < w->wait_count; i++)
        write_number(stream, trace, HEADER_WAIT, w->waits[i]);
    if (w->kind == MR_WITNESS_DEADLOCK)
        return;
    write_number(stream, trace, HEADER_FIRST, w->first);
    write_number(stream, trace, HEADER_SECOND, w->second);
    if (w->kind == MR_WITNESS_DANGLING || w->kind == MR_WITNESS_DOUBLE_FREE)
        write_number(stream, trace, HEADER_FREED, w->freed);
}

bool mr_witness_write(FILE *stream, const mr_trace *trace, const mr_witness *w)
{
    bool in_runs = w->event_count > MR_WITNESS_MOST_LINES;
    fprintf(stream, "#@witness %d\n#@trace ", in_runs ? FORMAT_WITH_RUNS : FORMAT_VERSION);
    write_name(stream, trace->path);
    fputs("\n", stream);
    if (w->kind != MR_WITNESS_RACE)
        fprintf(stream, "%s %s\n", header_words[HEADER_KIND], mr_witness_kind_name(w->kind));
    fprintf(stream, "#@model %s\n", mr_model_name(w->model));
    fprintf(stream, "#@window %" PRIu32 " %" PRIu32 "\n", w->window_start, w->window_end);
    write_numbers(stream, trace, w);
    bool ok = write_events(stream, trace, w, in_runs);
    uint32_t count;
    const uint32_t *stops = mr_witness_stops(w, &count);
    for (uint32_t i = 0; ok && i < count; i++)
        ok = write_event(stream, trace, stops[i]);
    return ok && !ferror(stream);
}

/* ---- reading ---- */

typedef struct reader {
    const char *path;
    const mr_trace *trace;
    mr_lines lines;
    bool seen[HEADER_COUNT];
    mr_model model;     /* when seen */
    uint32_t window[2]; /* when seen; else the start is 0 */
    mr_witness_kind kind;
    uint32_t accesses[2]; /* when seen */
    uint32_t freed;       /* when seen */
    mr_u32s waits;
    mr_u32s events;      /* as listed, those that are next included */
    uint32_t *next;      /* thread: its next event, or MR_NONE; NULL before the first line */
    uint32_t *following; /* event - window start: the next event of its thread, or MR_NONE */
    mr_error *error;
} reader;

static mr_status fail(const reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static mr_status fail(const reader *r, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return mr_error_set(r->error, MR_ERR_TRACE, r->path, r->lines.number, "%s", text);
}

static mr_status no_memory(const reader *r)
{
    return mr_error_memory(r->error, "reading a witness");
}

static bool equals(mr_slice slice, const char *text)
{
    return strlen(text) == slice.length && !memcmp(slice.text, text, slice.length);
}

/* Takes the next word off `rest`; empty at its end. */
static mr_slice take_word(mr_slice *rest)
{
    const char *at = rest->text, *end = rest->text + rest->length;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    const char *word = at;
    while (at < end && *at != ' ' && *at != '\t')
        at++;
    *rest = (mr_slice){at, (uint32_t)(end - at)};
    return (mr_slice){word, (uint32_t)(at - word)};
}

/* Exactly `count` decimal numbers. */
static bool take_numbers(mr_slice rest, uint64_t *numbers, int count)
{
    for (int i = 0; i < count; i++) {
        mr_slice word = take_word(&rest);
        if (!word.length || word.length > 18)
            return false;
        numbers[i] = 0;
        for (uint32_t k = 0; k < word.length; k++) {
            if (word.text[k] < '0' || word.text[k] > '9')
                return false;
            numbers[i] = 10 * numbers[i] + (uint64_t)(word.text[k] - '0');
        }
    }
    return !take_word(&rest).length;
}

static mr_status read_version(const reader *r, mr_slice rest)
{
    uint64_t version;
    if (!take_numbers(rest, &version, 1))
        return fail(r, "expected #@witness VERSION");
    if (version != FORMAT_VERSION && version != FORMAT_WITH_RUNS)
        return fail(r,
                    "witness format %" PRIu64 "; this version of maxrace reads formats %d and %d",
                    version, FORMAT_VERSION, FORMAT_WITH_RUNS);
    return MR_OK;
}

static mr_status read_model(reader *r, mr_slice rest)
{
    char quoted[MR_QUOTE_SIZE];
    mr_slice word = take_word(&rest);
    for (int model = 0; model <= MR_MODEL_BRANCH; model++) {
        if (equals(word, mr_model_name((mr_model)model))) {
            r->model = (mr_model)model;
            return MR_OK;
        }
    }
    return fail(r, "unknown model '%s'; expected rf, value or branch",
                mr_slice_quote(word, quoted));
}

static mr_status read_window(reader *r, mr_slice rest)
{
    uint64_t bounds[2];
    if (!take_numbers(rest, bounds, 2))
        return fail(r, "expected #@window START END");
    if (bounds[0] > bounds[1] || bounds[1] > r->trace->event_count)
        return fail(r,
                    "window [%" PRIu64 ", %" PRIu64 ") is not part of the trace, which has %" PRIu64
                    " events",
                    bounds[0], bounds[1], r->trace->event_count);
    r->window[0] = (uint32_t)bounds[0];
    r->window[1] = (uint32_t)bounds[1];
    return MR_OK;
}

static mr_status read_access(reader *r, header kind, mr_slice rest)
{
    uint64_t numbers[2];
    if (!take_numbers(rest, numbers, 2))
        return fail(r, "expected %s EVENT LINE", header_words[kind]);
    if (numbers[0] >= r->trace->event_count)
        return fail(r, "no event %" PRIu64 " in the trace, which has %" PRIu64 " events",
                    numbers[0], r->trace->event_count);
    uint32_t event = (uint32_t)numbers[0];
    if (mr_trace_line(r->trace, event) != numbers[1])
        return fail(r,
                    "event %" PRIu32 " is on line %" PRIu64 " of the trace, not on line %" PRIu64
                    "; is this the right trace?",
                    event, mr_trace_line(r->trace, event), numbers[1]);
    if (kind == HEADER_WAIT)
        return mr_u32s_push(&r->waits, event) ? MR_OK : no_memory(r);
    if (kind == HEADER_FREED)
        r->freed = event;
    else
        r->accesses[kind == HEADER_SECOND] = event;
    return MR_OK;
}

static mr_status read_kind(reader *r, mr_slice rest)
{
    char quoted[MR_QUOTE_SIZE];
    mr_slice word = take_word(&rest);
    for (int kind = MR_WITNESS_MEMORY_ORDER; kind < MR_WITNESS_KINDS; kind++) {
        if (equals(word, mr_witness_kind_name((mr_witness_kind)kind))) {
            r->kind = (mr_witness_kind)kind;
            return MR_OK;
        }
    }
    return fail(r, "unknown kind '%s'", mr_slice_quote(word, quoted));
}

/* Prepares the search for "the next event of this thread", from the start of the window. */
static bool index_threads(reader *r)
{
    const mr_trace *trace = r->trace;
    uint32_t start = r->window[0];
    r->next = mr_calloc(trace->threads.count, sizeof *r->next);
    r->following = mr_calloc(trace->event_count - start, sizeof *r->following);
    if (!r->next || !r->following)
        return false;
    for (uint32_t t = 0; t < trace->threads.count; t++)
        r->next[t] = MR_NONE;
    for (uint32_t e = trace->event_count; e-- > start;) {
        r->following[e - start] = r->next[trace->thread[e]];
        r->next[trace->thread[e]] = e;
    }
    return true;
}

/* The next event of its thread has been listed. */
static mr_status take_event(reader *r, uint32_t event)
{
    r->next[r->trace->thread[event]] = r->following[event - r->window[0]];
    return mr_u32s_push(&r->events, event) ? MR_OK : no_memory(r);
}

static mr_status read_run(reader *r, mr_slice rest)
{
    uint64_t run[2];
    if (!take_numbers(rest, run, 2))
        return fail(r, "expected %s FIRST LAST", header_words[HEADER_RUN]);
    if (run[0] > run[1] || run[0] < r->window[0] || run[1] >= r->trace->event_count)
        return fail(r,
                    "no events %" PRIu64 " to %" PRIu64 " in the trace from event %" PRIu32
                    " on; it has %" PRIu64 " events",
                    run[0], run[1], r->window[0], r->trace->event_count);
    if (!r->next && !index_threads(r))
        return no_memory(r);
    for (uint32_t event = (uint32_t)run[0]; event <= run[1]; event++) {
        if (r->next[r->trace->thread[event]] != event)
            return fail(r, "event %" PRIu32 " is not the next one of its thread", event);
        if (take_event(r, event) != MR_OK)
            return no_memory(r);
    }
    return MR_OK;
}

/* A line that begins with '#'. */
static mr_status read_comment(reader *r, mr_slice line)
{
    mr_slice word = take_word(&line);
    int kind = 0;
    while (kind < HEADER_COUNT && !equals(word, header_words[kind]))
        kind++;
    if (kind == HEADER_COUNT)
        return MR_OK;
    if (kind == HEADER_RUN)
        return read_run(r, line);
    if (r->seen[kind] && kind != HEADER_WAIT)
        return fail(r, "%s is given twice", header_words[kind]);
    if (r->events.count)
        return fail(r, "%s must come before the first event", header_words[kind]);
    r->seen[kind] = true;
    switch ((header)kind) {
    case HEADER_WITNESS:
        return read_version(r, line);
    case HEADER_MODEL:
        return read_model(r, line);
    case HEADER_KIND:
        return read_kind(r, line);
    case HEADER_WINDOW:
        return read_window(r, line);
    case HEADER_FIRST:
    case HEADER_SECOND:
    case HEADER_FREED:
    case HEADER_WAIT:
        return read_access(r, (header)kind, line);
    case HEADER_TRACE:
    case HEADER_RUN:
    case HEADER_COUNT:
        break; /* for people */
    }
    return MR_OK;
}

static bool same_name(const mr_names *names, uint32_t number, mr_slice slice)
{
    const mr_name *name = &names->items[number];
    return name->length == slice.length && !memcmp(name->text, slice.text, slice.length);
}

static bool same_value(const mr_trace *trace, uint32_t event, const mr_parsed *parsed)
{
    uint32_t value = trace->value[event];
    if (parsed->has_value != (value != 0))
        return false;
    if (!parsed->has_value)
        return true;
    if (!mr_op_updates((uint8_t)parsed->op))
        return parsed->value == trace->values[value];
    mr_update update = trace->updates[value];
    return parsed->value == trace->values[update.read_value] &&
           parsed->written_value == trace->values[update.written_value];
}

static bool same_reach(const mr_trace *trace, uint32_t event, mr_slice list)
{
    mr_reach reach = trace->reaches[trace->value[event]];
    mr_slice name;
    uint32_t count = 0;
    for (; mr_slice_next(&list, &name); count++) {
        if (count == reach.count ||
            !same_name(&trace->reach_names, trace->reach_items.items[reach.first + count], name))
            return false;
    }
    return count == reach.count;
}

static bool same_operand(const mr_trace *trace, uint32_t event, const mr_parsed *parsed)
{
    const mr_names *names = mr_trace_operand_names(trace, (mr_op)trace->op[event]);
    if (!names)
        return true;
    if (!same_name(names, trace->operand[event], parsed->name))
        return false;
    if (mr_op_calls((uint8_t)parsed->op))
        return same_reach(trace, event, parsed->reach);
    return names != &trace->variables || same_value(trace, event, parsed);
}

static mr_status mismatch(const reader *r, uint32_t event)
{
    char op[128], quoted[2][MR_QUOTE_SIZE];
    const mr_name *thread = &r->trace->threads.items[r->trace->thread[event]];
    const mr_name *location = &r->trace->locations.items[r->trace->location[event]];
    mr_trace_print_op(r->trace, event, false, op, sizeof op);
    mr_slice slices[] = {{thread->text, thread->length}, {location->text, location->length}};
    return fail(r,
                "expected %s|%s|%s, event %" PRIu32 " of the trace (line %" PRIu64
                "): a thread's lines are its next events in the trace",
                mr_slice_quote(slices[0], quoted[0]), op, mr_slice_quote(slices[1], quoted[1]),
                event, mr_trace_line(r->trace, event));
}

static mr_status read_event(reader *r, mr_slice line)
{
    const mr_trace *trace = r->trace;
    char quoted[MR_QUOTE_SIZE];
    mr_parsed parsed;
    mr_error parse_error = {0};
    if (mr_parse_event(line, &parsed, &parse_error) != MR_OK)
        return fail(r, "%s", parse_error.text);
    if (!r->next && !index_threads(r))
        return no_memory(r);
    uint32_t thread;
    if (!mr_names_find(&trace->threads, parsed.thread.text, parsed.thread.length, &thread))
        return fail(r, "no thread '%s' in the trace", mr_slice_quote(parsed.thread, quoted));
    uint32_t event = r->next[thread];
    if (event == MR_NONE)
        return fail(r, "thread '%s' has no more events in the trace",
                    mr_slice_quote(parsed.thread, quoted));
    if (trace->op[event] != parsed.op || !same_operand(trace, event, &parsed) ||
        !same_name(&trace->locations, trace->location[event], parsed.location))
        return mismatch(r, event);
    return take_event(r, event);
}

static mr_status read_lines(reader *r)
{
    for (;;) {
        mr_slice line;
        mr_error input_error = {0};
        mr_status status = MR_OK;
        switch (mr_lines_next(&r->lines, &line, &input_error)) {
        case MR_LINE_TEXT:
            if (line.length)
                status = line.text[0] == '#' ? read_comment(r, line) : read_event(r, line);
            break;
        case MR_LINE_TOO_LONG:
            return fail(r, "line of more than %d bytes", MR_LINE_MAX_BYTES);
        case MR_LINE_NUL:
            return fail(r, "NUL byte; a witness is a text file");
        case MR_LINE_FAILED:
            return mr_error_set(r->error, input_error.status, r->path, 0, "%s", input_error.text);
        case MR_LINE_END:
            return MR_OK;
        }
        if (status != MR_OK)
            return status;
    }
}

/* The last two lines are the accesses, as `#@first` and `#@second` say where they are given. */
static mr_status check_accesses(reader *r, const mr_witness *w)
{
    for (int i = 0; i < 2; i++) {
        header kind = i ? HEADER_SECOND : HEADER_FIRST;
        uint32_t found = i ? w->second : w->first;
        if (r->seen[kind] && r->accesses[i] != found)
            return fail(r,
                        "%s names event %" PRIu32 ", but the last two lines are events %" PRIu32
                        " and %" PRIu32,
                        header_words[kind], r->accesses[i], w->first, w->second);
    }
    return MR_OK;
}

/* The accesses of a race are the last two lines. False: there are too few. */
static bool take_race(const reader *r, mr_witness *w)
{
    if (r->events.count < 2)
        return false;
    const uint32_t *last = r->events.items + r->events.count - 2;
    w->first = last[0] < last[1] ? last[0] : last[1];
    w->second = last[0] < last[1] ? last[1] : last[0];
    w->event_count = (uint32_t)(r->events.count - 2);
    return true;
}

/* The acquires of a deadlock are the last lines, in the order of the circle. */
static mr_status take_deadlock(reader *r, mr_witness *w)
{
    size_t count = r->waits.count;
    if (count < 2 || r->events.count < count)
        return fail(r, "deadlock needs two or more lines %s, and these acquires as the last lines",
                    header_words[HEADER_WAIT]);
    const uint32_t *last = r->events.items + r->events.count - count;
    for (size_t i = 0; i < count; i++)
        if (r->waits.items[i] != last[i])
            return fail(r, "%s names event %" PRIu32 ", but there is the line of event %" PRIu32,
                        header_words[HEADER_WAIT], r->waits.items[i], last[i]);
    w->waits = r->waits.items;
    w->wait_count = (uint32_t)count;
    w->first = w->waits[0];
    w->second = w->waits[1];
    w->event_count = (uint32_t)(r->events.count - count);
    r->waits = (mr_u32s){0};
    return MR_OK;
}

/* Of the other kinds only `second` is next. */
static mr_status take_second(const reader *r, mr_witness *w)
{
    bool dangles = r->kind == MR_WITNESS_DANGLING || r->kind == MR_WITNESS_DOUBLE_FREE;
    bool may_be_initial = r->kind == MR_WITNESS_NULL;
    if (r->events.count < 1 || (!r->seen[HEADER_FIRST] && !may_be_initial))
        return fail(r, "%s needs %s, and the second access as the last line",
                    mr_witness_kind_name(r->kind), header_words[HEADER_FIRST]);
    if (dangles && !r->seen[HEADER_FREED])
        return fail(r, "%s needs %s", mr_witness_kind_name(r->kind), header_words[HEADER_FREED]);
    w->first = r->seen[HEADER_FIRST] ? r->accesses[0] : MR_NONE;
    w->second = r->events.items[r->events.count - 1];
    w->freed = dangles ? r->freed : 0;
    w->event_count = (uint32_t)(r->events.count - 1);
    return MR_OK;
}

static mr_status take_kind(reader *r, mr_witness *w)
{
    w->kind = r->kind;
    if (r->kind == MR_WITNESS_DEADLOCK)
        return take_deadlock(r, w);
    if (r->kind != MR_WITNESS_RACE)
        return take_second(r, w);
    return take_race(r, w) ? MR_OK
                           : fail(r, "%zu event lines; the last two lines must be the two accesses",
                                  r->events.count);
}

/* Makes the witness of what was read; it takes over the lists of events. */
static mr_status finish(reader *r, mr_witness *w)
{
    uint32_t *events = r->events.items, last = 0;
    mr_status status = take_kind(r, w);
    for (size_t i = 0; i < r->events.count; i++)
        last = events[i] > last ? events[i] : last;
    w->window_start = r->window[0];
    w->window_end = r->seen[HEADER_WINDOW] ? r->window[1] : last + 1;
    if (status == MR_OK)
        status = check_accesses(r, w);
    if (status != MR_OK)
        return status;
    w->events = events;
    r->events = (mr_u32s){0};
    return MR_OK;
}

static mr_status read_input(reader *r, mr_input *input, mr_witness *w)
{
    if (!mr_lines_init(&r->lines, input))
        return no_memory(r);
    mr_status status = read_lines(r);
    if (status == MR_OK)
        status = finish(r, w);
    mr_lines_free(&r->lines);
    mr_u32s_free(&r->events);
    mr_u32s_free(&r->waits);
    free(r->next);
    free(r->following);
    return status;
}

mr_status mr_witness_read(const char *path, const mr_trace *trace, mr_model default_model,
                          bool force_model, mr_witness *witness, mr_error *error)
{
    *witness = (mr_witness){0};
    mr_input *input;
    mr_error input_error = {0};
    mr_status status = mr_input_open(path, &input, &input_error);
    if (status != MR_OK)
        return mr_error_set(error, status, path, 0, "%s", input_error.text);
    reader r = {.path = path, .trace = trace, .error = error};
    mr_witness read = {0};
    status = read_input(&r, input, &read);
    mr_input_close(input);
    if (status != MR_OK) {
        mr_witness_free(&read);
        return status;
    }
    read.model = r.seen[HEADER_MODEL] && !force_model ? r.model : default_model;
    *witness = read;
    return MR_OK;
}
