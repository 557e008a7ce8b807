/* check: is a witness of a trace right? */
#include "cli.h"
#include "report/schedule_table.h"
#include "witness/checker.h"
#include "witness/file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* "events 3 and 7 race", "deadlock: events 4 and 11 wait for each other", … */
static void print_accepted(const mr_witness *witness)
{
    fputs("accepted: ", stdout);
    switch (witness->kind) {
    case MR_WITNESS_RACE:
    case MR_WITNESS_MEMORY_ORDER:
        printf("events %" PRIu32 " and %" PRIu32 " race", witness->first, witness->second);
        break;
    case MR_WITNESS_DEADLOCK:
        for (uint32_t i = 0; i < witness->wait_count; i++)
            printf("%s%" PRIu32, i ? " and " : "events ", witness->waits[i]);
        fputs(" wait in a circle", stdout);
        break;
    case MR_WITNESS_USE_AFTER_FREE:
        printf("event %" PRIu32 " uses what event %" PRIu32 " has freed", witness->second,
               witness->first);
        break;
    case MR_WITNESS_NULL:
    case MR_WITNESS_DANGLING:
    case MR_WITNESS_DOUBLE_FREE:
    case MR_WITNESS_SEES:
    case MR_WITNESS_KINDS:
        printf("%s: event %" PRIu32 " sees ", mr_witness_kind_name(witness->kind), witness->second);
        if (witness->first == MR_NONE)
            fputs("the initial value", stdout);
        else
            printf("event %" PRIu32, witness->first);
        break;
    }
    printf(", %s model\n", mr_model_name(witness->model));
}

/* The verdict on standard output: one line. */
static mr_status judge(const mr_trace *trace, mr_opaque opaque, const mr_witness *witness,
                       int *exit_status, mr_error *error)
{
    mr_error reason = {0};
    char line[1152];
    mr_checker *checker = mr_checker_new(trace, opaque);
    if (checker == NULL)
        return mr_error_memory(error, "checking the witness");
    mr_status status = mr_checker_check(checker, witness, &reason);
    mr_checker_free(checker);
    if (status == MR_ERR_MEMORY) {
        *error = reason;
        return status;
    }
    *exit_status = status == MR_OK ? 0 : MR_EXIT_REJECTED;
    if (status == MR_OK) {
        print_accepted(witness);
    } else {
        mr_error_line(&reason, line, sizeof line);
        printf("rejected: %s\n", line);
    }
    return MR_OK;
}

static mr_status check(const mr_cli *cli, const mr_trace *trace, int *exit_status, mr_error *error)
{
    mr_witness witness = {0};
    mr_model model = (mr_model)mr_config_choice(cli->config, "model");
    mr_status status =
        mr_witness_read(cli->operands[1], trace, model, cli->model_given, &witness, error);
    if (status != MR_OK)
        return status;
    status = judge(trace, (mr_opaque)mr_config_choice(cli->config, "opaque"), &witness, exit_status,
                   error);
    /* A rejected witness is not printed: its numbers may be out of range. */
    if (status == MR_OK && cli->switch_on && *exit_status == 0 &&
        !mr_report_schedule(stdout, trace, &witness))
        status = mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot write the schedule: %s",
                              strerror(errno));
    mr_witness_free(&witness);
    return status;
}

mr_status mr_cli_check(mr_cli *cli, int *exit_status, mr_error *error)
{
    mr_trace *trace = NULL;
    if (strcmp(cli->operands[0], "-") == 0 && strcmp(cli->operands[1], "-") == 0)
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "only one of trace and witness can be standard input");
    mr_cli_progress progress;
    mr_cli_progress_start(&progress, cli->config);
    mr_status status = mr_cli_read_trace(cli->operands[0], cli->config, &progress, &trace, error);
    mr_cli_progress_end(&progress);
    if (status != MR_OK)
        return status;
    status = check(cli, trace, exit_status, error);
    mr_trace_free(trace);
    return status;
}
