/* hunt: searches schedules of a program for failures and races. */
/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _XOPEN_SOURCE 700 /* isatty, fileno */

#include "hunt/hunt.h"

#include "base/seconds.h"
#include "cli.h"
#include "formats/read.h"
#include "hunt/runner.h"
#include "hunt_replay.h"
#include "interrupt.h"
#include "recording.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DIR_FLAG,
    RESUME,
    REPORT,
    RUNS,
    SEED,
    TIMEOUT,
    ORACLE,
    UNTIL,
    MINIMISE,
    INPUTS,
    GENERATE,
    ARGS_FILE,
    INPUT_SEARCH,
    WITHOUT
};
enum { DEFAULT_RUNS = 1000, DEFAULT_TIMEOUT_MS = 10000, GENERATED = 16 };

typedef struct progress_line {
    bool active, shown;
    double last;
} progress_line;

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void tell(void *context, const mr_hunt_state *state)
{
    progress_line *line = context;
    double now = mr_seconds();
    if (!line->active || now - line->last < 0.2)
        return;
    line->last = now;
    line->shown = true;
    fprintf(stderr,
            "\r\033[Khunt: %" PRIu64 " runs, %" PRIu32 " behaviours, %zu found, %zu to try, %.0f s",
            state->runs, state->behaviours, state->finding_count, state->left, state->seconds);
    fflush(stderr);
}

static void print_findings(const mr_hunt_state *state, const char *folder)
{
    for (size_t i = 0; i < state->finding_count; i++) {
        const mr_finding_line *line = &state->findings[i];
        printf("  %" PRIu32 " %s (run %" PRIu64 "): %s\n", line->number, line->kind, line->run,
               line->text);
        printf("      maxrace replay %s/findings/%" PRIu32 "-%s\n", folder, line->number,
               line->kind);
    }
}

static void print_end(const mr_hunt_state *state)
{
    static const char *const ends[] = {
        [MR_HUNT_RUNS] = "The budget of runs is used up",
        [MR_HUNT_TIME] = "The time is used up",
        [MR_HUNT_ASKED] = "The hunt was interrupted",
        [MR_HUNT_FAILURE] = "The hunt ended at the first failure (--until failure)",
        [MR_HUNT_QUIET] = "Nothing is left to try that the traces suggest, and many free runs "
                          "showed nothing new"};
    printf("%s", ends[state->end]);
    if (state->end != MR_HUNT_QUIET)
        printf("; %zu question%s left", state->left, state->left == 1 ? " is" : "s are");
    if (state->dropped)
        printf(", %zu more were not kept", state->dropped);
    puts(". What was not run may still fail.");
}

static void print(const mr_hunt_state *state, const char *folder, bool ended)
{
    size_t races = 0;
    for (size_t i = 0; i < state->finding_count; i++)
        races += strcmp(state->findings[i].kind, "race") == 0;
    printf("%s: %" PRIu64 " run%s, %" PRIu32 " behaviour%s, %zu race%s confirmed, %zu other "
           "finding%s, %.1f s\n",
           folder, state->runs, plural(state->runs), state->behaviours, plural(state->behaviours),
           races, plural(races), state->finding_count - races, plural(state->finding_count - races),
           state->seconds);
    if (state->inputs_tried)
        printf("%" PRIu32 " input%s tried, %" PRIu32 " of them covered something new.\n",
               state->inputs_tried, plural(state->inputs_tried), state->inputs_kept);
    print_findings(state, folder);
    if (state->first_failure)
        printf("The first failure was run %" PRIu64 ".\n", state->first_failure);
    else
        puts("No run failed.");
    if (ended)
        print_end(state);
}

/* The journal alone. */
static bool report_run(void *context, const mr_hunt_line *run)
{
    mr_hunt_state *state = context;
    static const char *const fails[] = {"exit",      "oracle",    "livelock", "deadlock",
                                        "sanitizer", "assertion", "abort",    "crash"};
    state->runs++;
    state->seconds = run->at;
    if (run->behaviour != UINT32_MAX)
        state->behaviours++;
    for (size_t i = 0; i < sizeof fails / sizeof *fails && !state->first_failure; i++)
        if (strcmp(run->outcome, fails[i]) == 0)
            state->first_failure = run->number;
    return true;
}

static bool report_finding(void *context, const mr_finding_line *finding)
{
    mr_hunt_state *state = context;
    void *findings = realloc(state->findings, (state->finding_count + 1) * sizeof *state->findings);
    if (!findings)
        return false;
    state->findings = findings;
    state->findings[state->finding_count++] = *finding;
    return true;
}

static mr_status report(const char *folder, int *exit_status, mr_error *error)
{
    mr_store_folder store;
    mr_hunt_state state = {.findings = NULL};
    const mr_store_reader reader = {
        .context = &state, .run = report_run, .finding = report_finding};
    mr_status status = mr_store_reopen(&store, folder, error);
    if (!status)
        status = mr_store_read(&store, &reader, error);
    if (!status)
        print(&state, folder, false);
    *exit_status = state.finding_count ? MR_EXIT_RACES : 0;
    mr_store_close(&store);
    mr_hunt_state_free(&state);
    return status;
}

/* "bank.hunt" for "./bank". */
static const char *choose_folder(const mr_cli *cli, char *buffer, size_t size_bytes)
{
    const char *name = cli->operands[0], *slash = strrchr(name, '/');
    if (cli->own[RESUME])
        return cli->own[RESUME];
    if (cli->own[DIR_FLAG])
        return cli->own[DIR_FLAG];
    snprintf(buffer, size_bytes, "%.400s.hunt", slash ? slash + 1 : name);
    return buffer;
}

/* One of two words; `fallback` when it is not given. */
static mr_status word(const mr_cli *cli, int flag, const char *yes, const char *no, bool fallback,
                      bool *is, mr_error *error)
{
    const char *text = cli->own[flag];
    *is = text ? strcmp(text, yes) == 0 : fallback;
    if (!text || *is || strcmp(text, no) == 0)
        return MR_OK;
    return mr_error_set(error, MR_ERR_USAGE, NULL, 0, "--%s: '%.64s' is not %s or %s",
                        cli->command->own[flag].name, text, yes, no);
}

static mr_status read_flags(const mr_cli *cli, mr_hunt_options *options, mr_error *error)
{
    uint64_t timeout = DEFAULT_TIMEOUT_MS;
    mr_status status = mr_cli_number(cli, RUNS, DEFAULT_RUNS, 0, &options->most_runs, error);
    if (!status)
        status = mr_cli_number(cli, SEED, 1, 0, &options->seed, error);
    if (!status)
        status = mr_cli_number(cli, TIMEOUT, DEFAULT_TIMEOUT_MS, 1, &timeout, error);
    if (!status)
        status = word(cli, UNTIL, "failure", "end", false, &options->ends_at_failure, error);
    if (!status)
        status = word(cli, MINIMISE, "yes", "no", true, &options->minimises, error);
    if (!status && cli->own[WITHOUT])
        status = word(cli, WITHOUT, "swap", "frontier", false, &options->without_swaps, error);
    options->without_frontier = cli->own[WITHOUT] && !options->without_swaps;
    options->timeout_ms = timeout < INT32_MAX ? (unsigned)timeout : INT32_MAX;
    options->oracle = cli->own[ORACLE];
    options->jobs = (unsigned)mr_config_int(cli->config, "jobs");
    return status;
}

/* *asked: inputs are searched. */
static mr_status read_inputs(const mr_cli *cli, mr_input_options *inputs, bool *asked,
                             mr_error *error)
{
    const char *search = cli->own[INPUT_SEARCH] ? cli->own[INPUT_SEARCH] : "all";
    bool all = strcmp(search, "all") == 0;
    *inputs = (mr_input_options){.folder = cli->own[INPUTS],
                                 .generator = cli->own[GENERATE],
                                 .generated = GENERATED,
                                 .arguments_file = cli->own[ARGS_FILE],
                                 .solves = all || strcmp(search, "solve") == 0,
                                 .mutates = all || strcmp(search, "mutate") == 0};
    *asked = inputs->folder || inputs->generator || inputs->arguments_file;
    const char *needed = inputs->folder ? inputs->folder : inputs->arguments_file;
    if (needed && access(needed, R_OK) != 0) /* before the folder of the hunt is made */
        return mr_error_set(error, MR_ERR_IO, needed, 0, "cannot be read: %s", strerror(errno));
    if (inputs->solves || inputs->mutates || strcmp(search, "none") == 0)
        return MR_OK;
    return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                        "--input-search: '%.64s' is not all, solve, mutate or none", search);
}

/* ---- replay FOLDER ---- */

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

/* Did the run do what the saved one did? Of kinds that compare with the first run of the hunt, status
 * and output are compared with those of the saved run. */
static bool repeats(const char *kind, const mr_ran *ran, const mr_run_outcome *outcome,
                    const mr_run_end *saved)
{
    if (strcmp(kind, mr_run_kind_name(MR_RUN_RACE)) == 0)
        return ran->replay.outcome == MR_REPLAY_GOAL;
    if (outcome->kind != MR_RUN_GOOD || saved->exit_status != ran->end.exit_status)
        return strcmp(kind, mr_run_kind_name(outcome->kind)) == 0;
    return strcmp(kind, mr_run_kind_name(MR_RUN_EXIT)) == 0 ||
           (mr_run_end_writes_same(saved, &ran->end) &&
            (strcmp(kind, mr_run_kind_name(MR_RUN_OUTPUT)) == 0 ||
             strcmp(kind, mr_run_kind_name(MR_RUN_ORACLE)) == 0));
}

static char *text_of(const char *folder, const char *name)
{
    char path[4200], *text = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "%.4000s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (file && getdelim(&text, &room, '\0', file) < 0) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

/* How the saved run ended. */
static mr_status read_end(const char *folder, mr_run_end *end, mr_error *error)
{
    char path[4200];
    mr_trace *trace = NULL;
    snprintf(path, sizeof path, "%.4000s/trace.mrt", folder);
    mr_status status = mr_trace_read(path, NULL, &trace, error);
    if (status)
        return status;
    *end = (mr_run_end){.is_there = true,
                        .exit_status = trace->ending.number,
                        .output = text_of(folder, "output"),
                        .errors = text_of(folder, "errors")};
    mr_trace_free(trace);
    return MR_OK;
}

mr_status mr_hunt_replay(const char *given, unsigned timeout_ms, int *exit_status, mr_error *error)
{
    char kind[16], folder[PATH_MAX], schedule[PATH_MAX + 16], inputs[PATH_MAX + 16];
    mr_run_info info = {.folder = NULL};
    mr_run_end saved = {.is_there = false};
    mr_runner runner = {.folder = ""};
    mr_ran ran = {.trace = NULL};
    if (!realpath(given, folder))
        return mr_error_set(error, MR_ERR_IO, given, 0, "cannot read: %s", strerror(errno));
    snprintf(schedule, sizeof schedule, "%s/schedule", folder);
    snprintf(inputs, sizeof inputs, "%s/inputs", folder);
    mr_status status = read_kind(folder, kind, error);
    if (!status)
        status = mr_run_info_of_schedule(&info, schedule, error);
    if (!status)
        status = read_end(folder, &saved, error);
    if (!status)
        status = mr_runner_open(&runner, NULL, error);
    if (!status) {
        const mr_run_request request = {.arguments = info.arguments.items,
                                        .environment = info.environment.items,
                                        .directory = info.folder,
                                        .feed = access(inputs, R_OK) == 0 ? inputs : NULL,
                                        .strategy = info.schedule,
                                        .seed = info.seed,
                                        .schedule = schedule,
                                        .timeout_ms = timeout_ms};
        status = mr_runner_run(&runner, &request, &ran, error);
    }
    if (!status) {
        mr_run_outcome outcome = mr_outcome_of(&ran, NULL);
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
    mr_ran_free(&ran);
    mr_runner_close(&runner);
    mr_run_info_free(&info);
    mr_run_end_free(&saved);
    return status;
}

mr_status mr_cli_hunt(mr_cli *cli, int *exit_status, mr_error *error)
{
    char folder[512], symbols[4000];
    mr_hunt_state state = {.findings = NULL};
    mr_halt halt = {.deadline_seconds = 0};
    progress_line line = {.active = isatty(STDERR_FILENO) && !mr_config_bool(cli->config, "quiet")};
    if (cli->own[REPORT])
        return report(cli->own[REPORT], exit_status, error);
    if (!cli->operand_count)
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "missing operand; usage: maxrace hunt [FLAGS] %s",
                            cli->command->operands);
    mr_hunt_options options = {.arguments = cli->operands,
                               .folder = choose_folder(cli, folder, sizeof folder),
                               .resumes = cli->own[RESUME] != NULL,
                               .symbol_folder = mr_symbol_folder(symbols, sizeof symbols),
                               .config = cli->config,
                               .halt = &halt,
                               .tell = tell,
                               .context = &line};
    int64_t limit = mr_config_int(cli->config, "time_limit");
    mr_input_options inputs;
    bool has_inputs;
    mr_status status = read_flags(cli, &options, error);
    if (!status)
        status = read_inputs(cli, &inputs, &has_inputs, error);
    if (status)
        return status;
    options.inputs = has_inputs ? &inputs : NULL;
    if (limit)
        halt.deadline_seconds = mr_seconds() + (double)limit;
    mr_interrupt_start(&halt);
    status = mr_hunt(&options, &state, error);
    mr_interrupt_end();
    if (line.shown)
        fputs("\r\033[K", stderr);
    if (!status)
        print(&state, options.folder, true);
    *exit_status = state.finding_count ? MR_EXIT_RACES : 0;
    mr_hunt_state_free(&state);
    return status;
}
