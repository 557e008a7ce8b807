/* hunt: searches schedules of a program for failures and races. */
/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _XOPEN_SOURCE 700 /* isatty, fileno */

#include "hunt/loop/hunt.h"

#include "base/seconds.h"
#include "cli.h"
#include "hunt_report.h"
#include "interrupt.h"
#include "launch.h"
#include "recording.h"

#include <errno.h>
#include <inttypes.h>
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
    SANDBOX,
    EXHAUSTIVE,
    STATES,
    STATES_MB,
    WITHOUT
};
enum {
    DEFAULT_RUNS = 1000,
    DEFAULT_TIMEOUT_MS = 10000,
    GENERATED = 16,
    DEFAULT_STATES = 50000000, /* of --exhaustive */
    DEFAULT_STATES_MB = 3072
};

typedef struct progress_line {
    bool active, shown;
    double last;
    const mr_cli *cli;
} progress_line;

static void tell_descriptors(void *context, const mr_descriptors *wanted)
{
    const progress_line *line = context;
    mr_launch_tell_missing(wanted, &line->cli->descriptors);
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
    const char *until = cli->own[UNTIL];
    options->until = until && strcmp(until, "end") != 0 ? until : NULL;
    if (!status && options->until && !mr_run_kinds_are_good(until))
        status = mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                              "--until: '%.64s' is not failure or end, or kinds such as "
                              "crash,deadlock",
                              until);
    if (!status)
        status = word(cli, MINIMISE, "yes", "no", true, &options->minimises, error);
    const char *without = cli->own[WITHOUT] ? cli->own[WITHOUT] : "";
    options->without_swaps = strcmp(without, "swap") == 0;
    options->without_near = strcmp(without, "near") == 0;
    options->without_frontier = strcmp(without, "frontier") == 0;
    options->without_states = strcmp(without, "states") == 0;
    if (!status && cli->own[WITHOUT] && !options->without_swaps && !options->without_near &&
        !options->without_frontier && !options->without_states)
        status = mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                              "--without: '%.64s' is not swap, near, frontier or states", without);
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

/* All orders and one input are explored: other ways to choose them mean nothing then. */
static mr_status check_exhaustive(const mr_cli *cli, mr_error *error)
{
    static const int others[] = {RESUME, SEED,     ORACLE,    UNTIL,        MINIMISE,
                                 INPUTS, GENERATE, ARGS_FILE, INPUT_SEARCH, WITHOUT};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (cli->own[others[i]])
            return mr_error_set(error, MR_ERR_USAGE, NULL, 0, "--%s is not for --exhaustive",
                                cli->command->own[others[i]].name);
    return MR_OK;
}

/* --exhaustive, with its limits. */
static mr_status explore(mr_cli *cli, const mr_hunt_options *options, int *exit_status,
                         mr_error *error)
{
    mr_exhaustive_limits limits = {.runs = cli->own[RUNS] ? options->most_runs : 0,
                                   .timeout_ms = options->timeout_ms,
                                   .folder = cli->own[DIR_FLAG],
                                   .sandbox = cli->own[SANDBOX] != NULL};
    uint64_t megabytes = 0;
    mr_status status = check_exhaustive(cli, error);
    if (!status)
        status = mr_cli_number(cli, STATES, DEFAULT_STATES, 0, &limits.states, error);
    if (!status)
        status = mr_cli_number(cli, STATES_MB, DEFAULT_STATES_MB, 0, &megabytes, error);
    limits.bytes = megabytes < UINT64_MAX >> 20 ? megabytes << 20 : 0;
    return status ? status : mr_cli_hunt_exhaustive(cli, &limits, exit_status, error);
}

/* Flags that mean nothing without --exhaustive. */
static mr_status check_loop(const mr_cli *cli, mr_error *error)
{
    static const int others[] = {STATES, STATES_MB};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (cli->own[others[i]])
            return mr_error_set(error, MR_ERR_USAGE, NULL, 0, "--%s is for --exhaustive",
                                cli->command->own[others[i]].name);
    return MR_OK;
}

mr_status mr_cli_hunt(mr_cli *cli, int *exit_status, mr_error *error)
{
    char folder[512], symbols[4000];
    mr_hunt_state state = {.findings = NULL};
    mr_halt halt = {.deadline_seconds = 0};
    progress_line line = {.active = isatty(STDERR_FILENO) && !mr_config_bool(cli->config, "quiet"),
                          .cli = cli};
    if (cli->own[REPORT])
        return mr_hunt_report(cli, cli->own[REPORT], NULL, exit_status, error);
    if (!cli->operand_count)
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "missing operand; usage: maxrace hunt [FLAGS] %s",
                            cli->command->operands);
    mr_hunt_options options = {.arguments = cli->operands,
                               .folder = choose_folder(cli, folder, sizeof folder),
                               .resumes = cli->own[RESUME] != NULL,
                               .sandbox = cli->own[SANDBOX] != NULL,
                               .descriptors = &cli->descriptors,
                               .symbol_folder = mr_symbol_folder(symbols, sizeof symbols),
                               .config = cli->config,
                               .halt = &halt,
                               .tell_descriptors = tell_descriptors,
                               .tell = tell,
                               .context = &line};
    int64_t limit = mr_config_int(cli->config, "time_limit");
    mr_input_options inputs;
    bool has_inputs;
    mr_status status = read_flags(cli, &options, error);
    if (!status)
        status = read_inputs(cli, &inputs, &has_inputs, error);
    if (!status && cli->own[EXHAUSTIVE])
        return explore(cli, &options, exit_status, error);
    if (!status)
        status = check_loop(cli, error);
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
        status = mr_hunt_report(cli, options.folder, &state, exit_status, error);
    mr_hunt_state_free(&state);
    return status;
}
