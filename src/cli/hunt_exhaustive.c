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

enum { MOST_STATES = 50000000 };
static const uint64_t MOST_BYTES = (uint64_t)3 << 30;

mr_status mr_cli_hunt_exhaustive(const mr_cli *cli, uint64_t most_runs, unsigned timeout_ms,
                                 int *exit_status, mr_error *error)
{
    mr_explore self = {.had = NULL};
    mr_explore_program program = {.arguments = cli->operands, .timeout_ms = timeout_ms};
    mr_halt halt = {.deadline_seconds = 0};
    mr_explore_settings settings = {.runner = mr_explore_run_program,
                                    .context = &program,
                                    .max_runs = most_runs,
                                    .max_states = MOST_STATES,
                                    .max_bytes = MOST_BYTES,
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
