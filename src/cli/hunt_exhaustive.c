/* hunt --exhaustive: explores all behaviours of a program. */
#include "hunt/exhaustive/exhaustive_keep.h"
#include "hunt/exhaustive/exhaustive_report.h"
#include "hunt/exhaustive/exhaustive_run.h"
#include "hunt/program/saved.h"

#include "base/seconds.h"
#include "cli.h"
#include "interrupt.h"
#include "recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The report, on standard output and in the folder. */
static mr_status tell(const mr_explore *self, const mr_explore_program *program, const char *folder,
                      mr_error *error)
{
    char *text = NULL;
    size_t room = 0;
    FILE *file = open_memstream(&text, &room);
    if (file)
        mr_explore_print(self, program->symbols, file);
    mr_status status = MR_OK;
    if (!file || fclose(file) != 0)
        status = mr_error_memory(error, "writing the report");
    if (!status)
        fputs(text, stdout);
    if (!status && folder)
        status = mr_saved_text(folder, "report.txt", text, error);
    free(text);
    return status;
}

mr_status mr_cli_hunt_exhaustive(const mr_cli *cli, const mr_exhaustive_limits *limits,
                                 int *exit_status, mr_error *error)
{
    mr_explore self = {.had = NULL};
    mr_explore_program program = {.arguments = cli->operands, .timeout_ms = limits->timeout_ms};
    mr_explore_folder folder = {.path = NULL};
    mr_halt halt = {.deadline_seconds = 0};
    mr_explore_settings settings = {.runner = mr_explore_run_program,
                                    .context = &program,
                                    .max_runs = limits->runs,
                                    .max_states = limits->states,
                                    .max_bytes = limits->bytes,
                                    .halt = &halt};
    int64_t limit = mr_config_int(cli->config, "time_limit");
    if (limit)
        halt.deadline_seconds = mr_seconds() + (double)limit;
    char symbols[4000];
    mr_status status = MR_OK;
    if (limits->folder) {
        status = mr_explore_folder_make(&folder, limits->folder, error);
        program.folder = &folder;
    }
    if (!status)
        status = mr_runner_open(&program.runner, mr_symbol_folder(symbols, sizeof symbols), error);
    if (!status && limits->sandbox)
        status = mr_runner_use_sandbox(&program.runner, NULL, error);
    if (status) {
        mr_explore_program_free(&program);
        mr_explore_folder_free(&folder);
        return status;
    }
    program.runner.descriptors = &cli->descriptors;
    mr_interrupt_start(&halt);
    status = mr_explore_all(&self, &settings, error);
    mr_interrupt_end();
    if (!status)
        status = tell(&self, &program, limits->folder, error);
    mr_explore_folder_free(&folder);
    *exit_status = mr_explore_exit_status(&self);
    mr_explore_program_free(&program);
    mr_explore_free(&self);
    return status;
}
