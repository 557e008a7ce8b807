/* hunt --exhaustive: explores all behaviours of a program. */
#include "hunt/exhaustive/exhaustive_report.h"
#include "hunt/exhaustive/exhaustive_run.h"

#include "base/seconds.h"
#include "cli.h"
#include "interrupt.h"
#include "recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

mr_status mr_cli_hunt_exhaustive(const mr_cli *cli, const mr_exhaustive_limits *limits,
                                 int *exit_status, mr_error *error)
{
    mr_explore self = {.had = NULL};
    mr_explore_program program = {.arguments = cli->operands, .timeout_ms = limits->timeout_ms};
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
    mr_status status =
        mr_runner_open(&program.runner, mr_symbol_folder(symbols, sizeof symbols), error);
    if (status)
        return status;
    mr_interrupt_start(&halt);
    status = mr_explore_all(&self, &settings, error);
    mr_interrupt_end();
    if (!status)
        mr_explore_print(&self, program.symbols, stdout);
    *exit_status = mr_explore_exit_status(&self);
    mr_explore_program_free(&program);
    mr_explore_free(&self);
    return status;
}
