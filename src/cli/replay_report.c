#include "replay_report.h"

#include "report/escape.h"
#include "report/json_object.h"
#include "trace/op.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static mr_status no_memory(mr_error *error)
{
    return mr_error_memory(error, "writing the report");
}

static bool map_modules(mr_replay_report *report)
{
    const mr_run_info *run = &report->replaying->run;
    bool ok = report->symbols != NULL;
    for (size_t i = 0; ok && i < run->module_count; i++) {
        const mr_run_module *module = &run->modules[i];
        ok = mr_symbols_map(report->symbols, module->path, module->bias, module->start, module->end,
                            NULL, 0);
    }
    return ok;
}

/* Where the files of the program are. */
static void print_sandbox(const mr_replay_report *report)
{
    const mr_sandbox *sandbox = &report->replaying->sandbox;
    if (sandbox->is_kept)
        fprintf(report->stream, "sandbox: files stay as they are; what the runs write is in %s\n",
                sandbox->folder);
    else
        fputs("sandbox: files stay as they are; what the runs write is removed\n", report->stream);
    for (size_t i = 0; i < sandbox->read_only_count; i++)
        fprintf(report->stream, "sandbox: %s can only be read, overlayfs cannot lie over it\n",
                sandbox->read_only[i]);
}

/* A text of the program or the system, which may be no UTF-8. */
static json_t *json_text(const char *text)
{
    char *escaped = mr_escape(text, false);
    json_t *json = escaped ? json_string(escaped) : NULL;
    free(escaped);
    return json;
}

static json_t *json_sandbox(const mr_sandbox *sandbox)
{
    json_t *folders = json_array();
    for (size_t i = 0; folders && i < sandbox->read_only_count; i++)
        json_array_append_new(folders, json_text(sandbox->read_only[i]));
    return json_pack("{s:o, s:o}", "kept",
                     sandbox->is_kept ? json_text(sandbox->folder) : json_null(), "read_only",
                     folders);
}

mr_status mr_replay_report_begin(mr_replay_report *report, FILE *stream, const mr_config *config,
                                 const mr_replaying *replaying, size_t race_count,
                                 size_t finding_count, mr_error *error)
{
    *report = (mr_replay_report){.stream = stream,
                                 .config = config,
                                 .replaying = replaying,
                                 .race_count = race_count,
                                 .finding_count = finding_count,
                                 .symbols = mr_symbols_new(NULL)};
    bool wants_json = mr_config_choice(config, "format") == MR_FORMAT_JSON;
    if (wants_json)
        report->json = json_array();
    if (!map_modules(report) || (wants_json && !report->json))
        return no_memory(error);
    if (!wants_json)
        fprintf(stream, "%s: %zu race%s and %zu other finding%s to replay\n",
                replaying->trace->path, race_count, race_count == 1 ? "" : "s", finding_count,
                finding_count == 1 ? "" : "s");
    if (!wants_json && replaying->has_sandbox)
        print_sandbox(report);
    return MR_OK;
}

/* ---- phrases ---- */

/* The trace's thread of a recorded thread. */
static uint32_t thread_of(const mr_trace *trace, uint32_t number)
{
    for (uint32_t t = 0; t < trace->threads.count; t++)
        if (mr_plan_thread(trace, t) == number)
            return t;
    return 0;
}

static const char *thread_name(const mr_trace *trace, uint32_t number)
{
    return mr_names_display(&trace->threads, thread_of(trace, number));
}

/* "place in function", of a code address. */
static void describe_code(mr_replay_report *report, uint64_t code, char *text, size_t room)
{
    const mr_code *found = code ? mr_symbols_code(report->symbols, code - 1) : NULL;
    if (!found)
        snprintf(text, room, "?");
    else if (found->frames[0].function[0])
        snprintf(text, room, "%s at %s", found->frames[0].function, found->frames[0].place);
    else
        snprintf(text, room, "%s", found->frames[0].place);
}

static void print_operation(mr_replay_report *report, const char *label,
                            const mr_replay_operation *operation)
{
    char place[512], kind[24], value[MR_VALUE_BYTES];
    size_t i = 0;
    for (; operation->kind[i]; i++)
        kind[i] =
            operation->kind[i] == '_'
                ? ' '
                : (char)(operation->kind[i] >= 'A' ? operation->kind[i] + 32 : operation->kind[i]);
    kind[i] = '\0';
    describe_code(report, operation->code, place, sizeof place);
    fprintf(report->stream, "    %-9s %s in %s", label, kind, place);
    if (operation->has_value)
        fprintf(report->stream, ", value %s", mr_value_text(operation->value, value));
    fputc('\n', report->stream);
}

/* Is it code of the runtime library, which calls the first function of a thread? */
static bool is_runtime(mr_replay_report *report, uint64_t code)
{
    static const char runtime[] = "libmaxrace_rt.so";
    const mr_code *found = code ? mr_symbols_code(report->symbols, code - 1) : NULL;
    return found && found->module_name &&
           strncmp(found->module_name, runtime, sizeof runtime - 1) == 0;
}

/* " (T1)" behind the name of a thread, unless that is its name. */
static const char *thread_number(const mr_trace *trace, uint32_t number, char text[16])
{
    snprintf(text, 16, " (T%" PRIu32 ")", number);
    const char *name = thread_name(trace, number);
    size_t length = strlen(name);
    bool is_name = strncmp(text + 2, name, length) == 0 && text[2 + length] == ')';
    return is_name ? "" : text;
}

static void print_frames(mr_replay_report *report, const mr_replay_thread *thread)
{
    char place[512];
    for (size_t i = 0; i < thread->frame_count; i++) {
        if (is_runtime(report, thread->frames[i]))
            continue;
        describe_code(report, thread->frames[i], place, sizeof place);
        if (strncmp(place, "libc.so", strlen("libc.so")) == 0)
            continue; /* what calls main and the first function of a thread */
        fprintf(report->stream, "            in %s\n", place);
    }
}

/* The locks that a thread holds after the events of the witness. */
static void print_locks(mr_replay_report *report, const mr_plan *plan, uint32_t thread)
{
    const mr_trace *trace = plan->trace;
    const mr_witness *witness = plan->witness;
    int *depth = mr_calloc(trace->locks.count + 1ull, sizeof *depth);
    const char *before = "            holds ";
    for (uint32_t i = 0; depth && i < witness->window_start + witness->event_count; i++) {
        uint32_t event = i < witness->window_start ? i : witness->events[i - witness->window_start];
        if (trace->thread[event] != thread)
            continue;
        mr_op op = (mr_op)trace->op[event];
        if (op == MR_OP_ACQUIRE || op == MR_OP_SHARED_ACQUIRE)
            depth[trace->operand[event]]++;
        else if (op == MR_OP_RELEASE || op == MR_OP_SHARED_RELEASE)
            depth[trace->operand[event]]--;
    }
    for (uint32_t lock = 0; depth && lock < trace->locks.count; lock++)
        if (depth[lock] > 0) {
            fprintf(report->stream, "%s%s", before, mr_names_display(&trace->locks, lock));
            before = ", ";
        }
    if (before[0] == ',')
        fputc('\n', report->stream);
    free(depth);
}

/* The value that an access writes when its turn comes, as the run showed. */
static const mr_replay_operation *done_by(const mr_replay_result *result, uint32_t number)
{
    for (size_t i = 0; i < result->did_count; i++)
        if (result->did[i].thread == number)
            return &result->did[i];
    return NULL;
}

static const char *value_text(const mr_trace *trace, uint32_t event, int64_t value,
                              char text[MR_TYPED_VALUE_BYTES])
{
    return mr_op_is_access(trace->op[event])
               ? mr_trace_value_text(trace, trace->operand[event], value, text)
               : mr_value_text(value, text);
}

/* What a thread stands before, or has done: "write of x at bank.c:9:5". */
static void print_deed(FILE *stream, const mr_trace *trace, uint32_t event)
{
    mr_op op = (mr_op)trace->op[event];
    bool is_access = mr_op_is_access((uint8_t)op);
    fputs(!is_access ? mr_op_name(op) : mr_op_writes((uint8_t)op) ? "write" : "read", stream);
    if (is_access || mr_op_operand_kind(op) == MR_OPERAND_LOCK)
        fprintf(
            stream, " of %s",
            mr_names_display(is_access ? &trace->variables : &trace->locks, trace->operand[event]));
    fprintf(stream, " at %s", trace->locations.items[trace->location[event]].text);
}

/* The first access of a memory-order race has happened. A replay is sequentially consistent. */
static void print_done(mr_replay_report *report, const mr_plan *plan)
{
    const mr_trace *trace = plan->trace;
    uint32_t event = plan->witness->first;
    uint32_t number = mr_plan_thread(trace, trace->thread[event]);
    char text[16];
    fprintf(report->stream, "  first   %s%s has done its ", thread_name(trace, number),
            thread_number(trace, number, text));
    print_deed(report->stream, trace, event);
    fputs(
        "\n          the order that is missing between the two shows in no run of one thread at a "
        "time\n",
        report->stream);
}

static void print_stop(mr_replay_report *report, const mr_replayed *replayed, unsigned which)
{
    const mr_plan *plan = &replayed->plan;
    const mr_trace *trace = plan->trace;
    uint32_t event = plan->stops[which].event;
    uint32_t number = mr_plan_thread(trace, trace->thread[event]);
    const mr_replay_thread *thread = mr_replay_result_thread(&replayed->goal, number);
    char value[MR_TYPED_VALUE_BYTES];
    static const char *const labels[] = {"first", "second", "next"};
    unsigned label = which + (plan->witness->kind == MR_WITNESS_MEMORY_ORDER);
    char text[16];
    mr_op op = (mr_op)trace->op[event];
    fprintf(report->stream, "  %-7s %s%s stands before its ", labels[label < 2 ? label : 2],
            thread_name(trace, number), thread_number(trace, number, text));
    print_deed(report->stream, trace, event);
    if (thread && thread->has_value)
        fprintf(report->stream, ", where %s is", value_text(trace, event, thread->value, value));
    const mr_replay_operation *did = done_by(which ? &replayed->other : &replayed->goal, number);
    if (did && did->has_value)
        fprintf(report->stream, "; it %s %s when it goes %s",
                mr_op_writes((uint8_t)op) ? "writes" : "reads",
                value_text(trace, event, did->value, value), plan->stop_count > 1 ? "first" : "on");
    fputc('\n', report->stream);
    if (thread)
        print_frames(report, thread);
    print_locks(report, plan, trace->thread[event]);
}

/* "exit status 0", "signal 6 (Aborted)" … */
static void describe_end(const mr_run_end *end, char *text, size_t room)
{
    if (end->timed_out)
        snprintf(text, room, "it did not end in time");
    else if (end->starved)
        snprintf(text, room,
                 "it waited for inputs that the recording does not have, and was ended");
    else if (end->deadlocked)
        snprintf(text, room, "a deadlock");
    else if (end->signal)
        snprintf(text, room, "signal %d (%s)", end->signal, strsignal(end->signal));
    else
        snprintf(text, room, "exit status %d", end->exit_status);
}

/* The path, seen from where the program ran. */
static const char *short_path(const mr_replay_report *report, const char *path)
{
    const char *folder = report->replaying->run.folder;
    size_t length = folder ? strlen(folder) : 0;
    return length && strncmp(path, folder, length) == 0 && path[length] == '/' && path[length + 1]
               ? path + length + 1
               : path;
}

/* The files that a run in the sandbox has changed. */
static void print_changes(mr_replay_report *report, const mr_changes *changes)
{
    enum { FILES = 10 };
    for (size_t i = 0; i < changes->count && i < FILES; i++) {
        fprintf(report->stream, "      %-7s ", mr_change_name(changes->items[i].kind));
        mr_escape_print(report->stream, short_path(report, changes->items[i].path));
        fputc('\n', report->stream);
    }
    if (changes->count > FILES)
        fprintf(report->stream, "      … and %zu more files\n", changes->count - FILES);
}

static void print_end(mr_replay_report *report, const char *label, const mr_run_end *end)
{
    enum { LINES = 4 };
    char text[128];
    if (!end->is_there)
        return;
    describe_end(end, text, sizeof text);
    fprintf(report->stream, "  %s: %s\n", label, text);
    const char *outputs[] = {end->output, end->errors};
    for (int i = 0; i < 2; i++) {
        const char *at = outputs[i];
        for (int lines = 0; at && *at && lines < LINES; lines++) {
            size_t length = strcspn(at, "\n");
            fprintf(report->stream, "      %s %.*s\n", i ? "stderr" : "stdout",
                    (int)(length < 100 ? length : 100), at);
            at += length + (at[length] != '\0');
        }
    }
    print_changes(report, &end->changes);
}

/* "waits for mutex lock at bank.c:9:5"; "": it does not, or for nothing that is known. */
static void describe_wait(mr_replay_report *report, const mr_replay_thread *thread, char *text,
                          size_t room)
{
    char what[256], place[512], number[16];
    text[0] = '\0';
    if (!thread->waits_for[0])
        return;
    if (strcmp(thread->waits_for, "thread") == 0)
        snprintf(what, sizeof what, "the end of %s%s",
                 thread_name(report->replaying->trace, (uint32_t)thread->awaited),
                 thread_number(report->replaying->trace, (uint32_t)thread->awaited, number));
    else {
        size_t used = (size_t)snprintf(what, sizeof what, "%s ", thread->waits_for);
        if (!mr_symbols_data(report->symbols, thread->awaited, 1, what + used, sizeof what - used,
                             NULL))
            snprintf(what + used, sizeof what - used, "at 0x%" PRIx64, thread->awaited);
    }
    describe_code(report, thread->waits_at, place, sizeof place);
    snprintf(text, room, "waits for %s in %s", what, place);
}

static void print_divergence(mr_replay_report *report, const mr_replay_result *result,
                             const mr_run_end *end)
{
    const mr_trace *trace = report->replaying->trace;
    if (result->outcome == MR_REPLAY_ENDED || result->outcome == MR_REPLAY_NOTHING) {
        char text[128];
        describe_end(end, text, sizeof text);
        fprintf(report->stream, "  diverged: the program ended before the goal (%s)\n", text);
    } else {
        char number[16];
        fprintf(report->stream, "  diverged: %s", result->reason);
        if (result->whose >= 0)
            fprintf(report->stream, ", %s%s", thread_name(trace, (uint32_t)result->whose),
                    thread_number(trace, (uint32_t)result->whose, number));
        fprintf(report->stream,
                ", after %" PRIu64 " operations, %" PRIu64 " of %" PRIu64 " steps\n",
                result->operations, result->steps, result->step_count);
    }
    if (result->input_expected[0])
        fprintf(report->stream, "    expected  %s\n    seen      %s\n", result->input_expected,
                result->input_seen);
    if (result->unfed[0])
        fprintf(report->stream, "    not given to the program again: %s\n", result->unfed);
    if (result->value_expected.kind[0]) {
        fputs("    the first other value:\n", report->stream);
        print_operation(report, "expected", &result->value_expected);
        print_operation(report, "seen", &result->value_seen);
    }
    if (result->expected.kind[0]) {
        print_operation(report, "expected", &result->expected);
        print_operation(report, "seen", &result->seen);
    }
    for (size_t i = 0; i < result->thread_count; i++) {
        const mr_replay_thread *thread = &result->threads[i];
        char waits[1024], number[16];
        describe_wait(report, thread, waits, sizeof waits);
        fprintf(report->stream, "    %s%s %s, after %" PRIu64 " operations\n",
                thread_name(trace, thread->number), thread_number(trace, thread->number, number),
                waits[0] ? waits : thread->state, thread->position);
        print_frames(report, thread);
    }
}

/* ---- text ---- */

static void print_race(mr_replay_report *report, size_t number, const mr_replayed *replayed)
{
    FILE *stream = report->stream;
    const mr_trace *trace = report->replaying->trace;
    const mr_witness *witness = replayed->plan.witness;
    bool reached = replayed->goal.outcome == MR_REPLAY_GOAL;
    bool is_race = witness->kind <= MR_WITNESS_MEMORY_ORDER;
    uint32_t event = replayed->plan.stops[0].event;
    const mr_names *names = mr_op_is_access(trace->op[event]) ? &trace->variables : &trace->locks;
    if (is_race) {
        event = mr_op_is_access(trace->op[witness->first]) ? witness->first : witness->second;
        fprintf(stream, "\nRace %zu of %zu on %s: ", number, report->race_count,
                mr_names_display(&trace->variables, trace->operand[event]));
    } else {
        fprintf(stream, "\nFinding %zu of %zu, %s on %s: ", number, report->finding_count,
                mr_witness_kind_name(witness->kind),
                mr_names_display(names, trace->operand[event]));
    }
    if (reached && replayed->effect != MR_EFFECT_UNKNOWN)
        fprintf(stream, "confirmed, %s\n", mr_effect_text(replayed->effect));
    else
        fputs(reached ? "confirmed\n" : "not reached\n", stream);
    if (!reached) {
        print_divergence(report, &replayed->goal, &replayed->first);
        return;
    }
    if (replayed->goal.value_expected.kind[0]) {
        fputs("  a read or write had another value than in the trace:\n", stream);
        print_operation(report, "expected", &replayed->goal.value_expected);
        print_operation(report, "seen", &replayed->goal.value_seen);
    }
    if (witness->kind == MR_WITNESS_MEMORY_ORDER)
        print_done(report, &replayed->plan);
    for (unsigned i = 0; i < replayed->plan.stop_count; i++)
        print_stop(report, replayed, i);
    if (replayed->evidence[0])
        fprintf(stream, "  effect  %s\n", replayed->evidence);
    print_end(report,
              witness->kind == MR_WITNESS_MEMORY_ORDER ? "after it" : "with the first access first",
              &replayed->first);
    if (replayed->second.is_there && replayed->other.outcome != MR_REPLAY_GOAL) {
        fputs("  with the second access first: not reached\n", stream);
        print_divergence(report, &replayed->other, &replayed->second);
    } else {
        print_end(report, "with the second access first", &replayed->second);
    }
}

/* ---- JSON ---- */

static json_t *json_operation(mr_replay_report *report, const mr_replay_operation *operation)
{
    char place[512];
    describe_code(report, operation->code, place, sizeof place);
    json_t *json = json_pack("{s:i, s:I, s:s, s:o}", "thread", (int)operation->thread, "position",
                             (json_int_t)operation->position, "kind", operation->kind, "place",
                             json_text(place));
    if (json && operation->has_value)
        json_object_set_new(json, "value", json_integer(operation->value));
    return json;
}

static json_t *json_changes(const mr_changes *changes)
{
    json_t *files = json_array();
    for (size_t i = 0; files && i < changes->count; i++)
        json_array_append_new(files,
                              json_pack("{s:o, s:s}", "path", json_text(changes->items[i].path),
                                        "change", mr_change_name(changes->items[i].kind)));
    return files;
}

static json_t *json_end(const mr_replay_report *report, const mr_run_end *end)
{
    json_t *json = json_pack("{s:i, s:b, s:b}", "exit_status", end->exit_status, "deadlock",
                             end->deadlocked, "timeout", end->timed_out);
    if (json && end->starved)
        json_object_set_new(json, "starved", json_true());
    if (json && end->signal)
        json_object_set_new(json, "signal", json_integer(end->signal));
    if (json && end->output)
        json_object_set_new(json, "stdout", json_text(end->output));
    if (json && end->errors)
        json_object_set_new(json, "stderr", json_text(end->errors));
    if (json && report->replaying->has_sandbox)
        json_object_set_new(json, "files", json_changes(&end->changes));
    return json;
}

static json_t *json_threads(mr_replay_report *report, const mr_replay_result *result)
{
    char place[512];
    json_t *threads = json_array();
    for (size_t i = 0; i < result->thread_count; i++) {
        const mr_replay_thread *thread = &result->threads[i];
        json_t *frames = json_array();
        for (size_t k = 0; k < thread->frame_count; k++) {
            if (is_runtime(report, thread->frames[k]))
                continue;
            describe_code(report, thread->frames[k], place, sizeof place);
            json_array_append_new(frames, json_text(place));
        }
        json_t *json =
            json_pack("{s:i, s:o, s:s, s:I, s:o}", "thread", (int)thread->number, "name",
                      json_text(thread_name(report->replaying->trace, thread->number)), "state",
                      thread->state, "operations", (json_int_t)thread->position, "stack", frames);
        if (json && thread->has_value)
            json_object_set_new(json, "value", json_integer(thread->value));
        describe_wait(report, thread, place, sizeof place);
        if (json && place[0])
            json_object_set_new(json, "waits", json_text(place));
        json_array_append_new(threads, json);
    }
    return threads;
}

static bool add_json(mr_replay_report *report, size_t number, const mr_replayed *replayed)
{
    const mr_replay_result *goal = &replayed->goal;
    const mr_witness *witness = replayed->plan.witness;
    bool reached = goal->outcome == MR_REPLAY_GOAL;
    json_t *events = json_array();
    for (unsigned i = 0; events && i < replayed->plan.stop_count; i++)
        json_array_append_new(events, json_integer(replayed->plan.stops[i].event));
    json_t *json = json_pack("{s:s, s:I, s:o, s:s, s:s, s:i, s:o}", "kind",
                             mr_witness_kind_name(witness->kind), "number", (json_int_t)number,
                             "events", events, "confirmed", reached ? "yes" : "diverged", "effect",
                             mr_effect_name(replayed->effect), "replays", (int)replayed->attempts,
                             "threads", json_threads(report, goal));
    if (!json)
        return false;
    if (replayed->evidence[0])
        json_object_set_new(json, "evidence", json_text(replayed->evidence));
    if (!reached)
        json_object_set_new(json, "reason",
                            json_string(goal->outcome == MR_REPLAY_DIVERGED
                                            ? goal->reason
                                            : "the program ended before the goal"));
    if (goal->input_expected[0]) {
        json_object_set_new(json, "input_expected", json_text(goal->input_expected));
        json_object_set_new(json, "input_seen", json_text(goal->input_seen));
    }
    if (goal->unfed[0])
        json_object_set_new(json, "unfed", json_string(goal->unfed));
    if (goal->expected.kind[0]) {
        json_object_set_new(json, "expected", json_operation(report, &goal->expected));
        json_object_set_new(json, "seen", json_operation(report, &goal->seen));
    }
    if (goal->value_expected.kind[0]) {
        json_object_set_new(json, "value_expected", json_operation(report, &goal->value_expected));
        json_object_set_new(json, "value_seen", json_operation(report, &goal->value_seen));
    }
    if (replayed->first.is_there)
        json_object_set_new(json, "first_goes_first", json_end(report, &replayed->first));
    if (replayed->second.is_there)
        json_object_set_new(json, "second_goes_first", json_end(report, &replayed->second));
    if (replayed->second.is_there && replayed->other.outcome == MR_REPLAY_DIVERGED)
        json_object_set_new(json, "second_reason", json_string(replayed->other.reason));
    return json_array_append_new(report->json, json) == 0;
}

mr_status mr_replay_report_add(mr_replay_report *report, size_t number, const mr_replayed *replayed,
                               mr_error *error)
{
    report->replayed++;
    report->reached += replayed->goal.outcome == MR_REPLAY_GOAL;
    report->effects[replayed->effect]++;
    if (report->json)
        return add_json(report, number, replayed) ? MR_OK : no_memory(error);
    print_race(report, number, replayed);
    return fflush(report->stream) == 0 ? MR_OK : mr_report_write_failed(NULL, error);
}

mr_status mr_replay_report_end(mr_replay_report *report, bool stopped, mr_error *error)
{
    mr_status status = MR_OK;
    if (report->json) {
        json_t *json =
            json_pack("{s:o, s:O, s:I, s:I}", "trace", json_text(report->replaying->trace->path),
                      "findings", report->json, "replayed", (json_int_t)report->replayed,
                      "confirmed", (json_int_t)report->reached);
        if (json && stopped)
            json_object_set_new(json, "stopped", json_true());
        if (json && report->replaying->has_sandbox)
            json_object_set_new(json, "sandbox", json_sandbox(&report->replaying->sandbox));
        if (!json || json_dumpf(json, report->stream, JSON_INDENT(2)) != 0)
            status =
                ferror(report->stream) ? mr_report_write_failed(NULL, error) : no_memory(error);
        fputc('\n', report->stream);
        json_decref(json);
    } else {
        fprintf(report->stream, "\n%zu of %zu confirmed", report->reached, report->replayed);
        for (int i = 0; i < MR_EFFECT_UNKNOWN; i++)
            if (report->effects[i])
                fprintf(report->stream, "; %zu: %s", report->effects[i],
                        mr_effect_text((mr_effect)i));
        fputs(stopped ? "; stopped by a signal before all were replayed\n" : "\n", report->stream);
    }
    json_decref(report->json);
    mr_symbols_free(report->symbols);
    return status;
}
