/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _XOPEN_SOURCE 700 /* realpath */

#include "hunt_replay.h"

#include "base/memory.h"
#include "cli.h"
#include "formats/read.h"
#include "hunt/loop/store.h"
#include "hunt/program/outcome.h"
#include "hunt/program/runner.h"
#include "launch.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The word before the colon of report.txt. */
static mr_status read_kind(const char *folder, char kind[16], mr_error *error)
{
    char path[4200];
    snprintf(path, sizeof path, "%.4096s/report.txt", folder);
    FILE *file = fopen(path, "r");
    kind[0] = '\0';
    /* The word is all that is wanted. NOLINTNEXTLINE(cert-err34-c) */
    bool ok = file && fscanf(file, "%15[a-z]:", kind) == 1;
    if (file)
        fclose(file);
    return ok ? MR_OK
              : mr_error_set(error, MR_ERR_IO, folder, 0,
                             "this is no finding of a hunt, nor a trace");
}

/* The input that the program had, of a hunt that searches inputs. */
typedef struct saved_input {
    bool is_there, is_stdin;
    char then[PATH_MAX]; /* its path in the hunt, which the program may have among its arguments */
    char now[PATH_MAX + 16];
} saved_input;

/* What report.txt has behind `key` at the beginning of a line. False: there is no such line. */
static bool find_line(const char *folder, const char *key, char value[PATH_MAX])
{
    char path[PATH_MAX + 16], *line = NULL;
    size_t room = 0, length = strlen(key);
    bool found = false;
    snprintf(path, sizeof path, "%s/report.txt", folder);
    FILE *file = fopen(path, "r");
    while (file && !found && getline(&line, &room, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        found = strncmp(line, key, length) == 0;
        if (found)
            snprintf(value, PATH_MAX, "%.*s", PATH_MAX - 1, line + length);
    }
    free(line);
    if (file)
        fclose(file);
    return found;
}

/* The line "input: PATH" of report.txt; behind it ", its standard input" when it is that. */
static void find_input(const char *folder, saved_input *input)
{
    *input = (saved_input){.is_there = false};
    snprintf(input->now, sizeof input->now, "%s/input", folder);
    input->is_there = access(input->now, R_OK) == 0 && find_line(folder, "input: ", input->then);
    char *end = strstr(input->then, ", its standard input");
    input->is_stdin = input->is_there && end;
    if (end)
        *end = '\0';
}

/* Puts the path of the saved input where the arguments have that of the hunt, which may be gone. */
static mr_status place_input(const saved_input *input, mr_run_info *info, mr_error *error)
{
    bool is_argument = input->is_there && !input->is_stdin && access(input->then, R_OK) != 0;
    for (size_t i = 1; is_argument && i < info->arguments.count; i++) {
        const char *old = info->arguments.items[i], *at = strstr(old, input->then);
        if (!at)
            continue;
        size_t room = strlen(old) + strlen(input->now) + 1;
        char *text = mr_malloc(room, 0);
        if (!text)
            return mr_error_memory(error, "reading how the program was run");
        snprintf(text, room, "%.*s%s%s", (int)(at - old), old, input->now,
                 at + strlen(input->then));
        free((void *)old);
        info->arguments.items[i] = text;
    }
    return MR_OK;
}

/* Did the run do what the saved one did? Of kinds that compare with the first run of the hunt, status
 * and output are compared with those of the saved run. */
static bool repeats(const char *kind, const mr_ran *ran, const mr_run_outcome *outcome,
                    const mr_run_end *saved)
{
    if (strcmp(kind, mr_run_kind_name(MR_RUN_RACE)) == 0 ||
        (!ran->trace && strcmp(kind, mr_run_kind_name(MR_RUN_MEMORY)) == 0))
        return ran->replay.outcome == MR_REPLAY_GOAL;
    if (outcome->kind != MR_RUN_GOOD || saved->exit_status != ran->end.exit_status)
        return strcmp(kind, mr_run_kind_name(outcome->kind)) == 0;
    return strcmp(kind, mr_run_kind_name(MR_RUN_EXIT)) == 0 ||
           (strcmp(kind, mr_run_kind_name(MR_RUN_OUTPUT)) == 0 &&
            mr_run_end_writes_same(saved, &ran->end));
}

/* How the saved run ended. */
static mr_status read_end(const char *folder, mr_run_end *end, mr_error *error)
{
    char path[4200], number[PATH_MAX];
    mr_trace *trace = NULL;
    *end = (mr_run_end){.is_there = true};
    if (find_line(folder, "exit status: ", number)) { /* a finding without a trace */
        end->exit_status = (int)strtol(number, NULL, 10);
        return MR_OK;
    }
    snprintf(path, sizeof path, "%.4000s/trace.mrt", folder);
    mr_status status = mr_trace_read(path, NULL, &trace, error);
    if (status)
        return status;
    *end = (mr_run_end){.is_there = true,
                        .exit_status = trace->ending.number,
                        .output = mr_store_text(folder, "output"),
                        .errors = mr_store_text(folder, "errors")};
    mr_trace_free(trace);
    return MR_OK;
}

mr_status mr_hunt_replay(const mr_cli *cli, const char *given, unsigned timeout_ms, bool sandbox,
                         int *exit_status, mr_error *error)
{
    char kind[16], folder[PATH_MAX], schedule[PATH_MAX + 16], inputs[PATH_MAX + 16];
    mr_run_info info = {.folder = NULL};
    mr_run_end saved = {.is_there = false};
    mr_runner runner = {.folder = ""};
    mr_ran ran = {.trace = NULL};
    saved_input input;
    char found_by[PATH_MAX] = "", sandboxed[PATH_MAX];
    char *oracle = NULL;
    if (!realpath(given, folder))
        return mr_error_set(error, MR_ERR_IO, given, 0, "cannot read: %s", strerror(errno));
    snprintf(schedule, sizeof schedule, "%s/schedule", folder);
    snprintf(inputs, sizeof inputs, "%s/inputs", folder);
    mr_status status = read_kind(folder, kind, error);
    if (!status)
        status = mr_run_info_of_schedule(&info, schedule, error);
    find_input(folder, &input);
    bool has_found_by = find_line(folder, "found by: ", found_by);
    bool is_exhaustive = has_found_by && strcmp(found_by, "--exhaustive") == 0;
    bool explores = is_exhaustive || (has_found_by && strcmp(found_by, "states") == 0);
    if (!status)
        status = place_input(&input, &info, error);
    if (!status)
        status = read_end(folder, &saved, error);
    if (!status)
        status = mr_runner_open(&runner, NULL, error);
    if (!status && (sandbox || find_line(folder, "sandbox: yes", sandboxed)))
        status = mr_runner_use_sandbox(&runner, info.folder, error);
    if (!status) {
        runner.descriptors = &info.descriptors;
        mr_launch_tell_missing(&info.descriptors, &cli->descriptors);
        const mr_run_request request = {.arguments = info.arguments.items,
                                        .environment = info.environment.items,
                                        .directory = info.folder,
                                        .input = input.is_stdin ? input.now : NULL,
                                        .feed = access(inputs, R_OK) == 0 ? inputs : NULL,
                                        .strategy = info.schedule,
                                        .seed = info.seed,
                                        .schedule = schedule,
                                        .keeps_inputs = explores,
                                        .needs_no_trace = is_exhaustive,
                                        .explores = explores,
                                        .timeout_ms = timeout_ms};
        status = mr_runner_run(&runner, &request, &ran, error);
    }
    mr_run_outcome outcome;
    if (!status) {
        oracle = mr_store_text(folder, "oracle");
        status = mr_outcome_judge(&ran, NULL, oracle, &outcome, error);
    }
    if (!status) {
        bool same = repeats(kind, &ran, &outcome, &saved);
        printf("%s: %s %s\n", given, kind, same ? "repeated" : "not repeated");
        printf("  the run ended: %s%s%s, exit status %d\n", mr_run_kind_name(outcome.kind),
               outcome.text[0] ? ", " : "", outcome.text, ran.end.exit_status);
        if (ran.end.output)
            fputs(ran.end.output, stdout);
        if (ran.end.errors)
            fputs(ran.end.errors, stderr);
        *exit_status = same ? MR_EXIT_RACES : 0;
    }
    free(oracle);
    mr_ran_free(&ran);
    mr_runner_close(&runner);
    mr_run_info_free(&info);
    mr_run_end_free(&saved);
    return status;
}
