/* order: the races of one whole-trace order. After a failure, the races found before it are
 * reported. */
#include "base/seconds.h"
#include "cli.h"
#include "interrupt.h"
#include "output.h"
#include "sweep/sweep.h"
#include "witness_dir.h"

#include <sys/stat.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

typedef struct report {
    const mr_sweep *sweep;
    const mr_config *config;
} report;

static mr_status print_report(FILE *stream, const void *context, mr_error *error)
{
    const report *self = context;
    const mr_sweep *sweep = self->sweep;
    return mr_format_chosen(self->config)
        ->order(stream, sweep->names, self->config, &sweep->result, error);
}

/* The file of a static race has the number that the report gives it. */
static mr_status write_witnesses(const mr_sweep *sweep, const mr_config *config, mr_error *error)
{
    const char *dir = mr_config_text(config, "witness.dir");
    mr_status status = MR_OK;
    if (dir[0] == '\0' || sweep->trace == NULL)
        return MR_OK;
    for (size_t i = 0; i < sweep->result.list.race_count && status == MR_OK; i++)
        if (sweep->result.races[i].standing == MR_STANDING_RACE)
            status = mr_witness_dir_add(dir, i + 1, sweep->trace, &sweep->result.races[i].witness,
                                        error);
    return status;
}

/* Tells a failure beside `*status`, of which the first decides. */
static void add_failure(mr_status *status, mr_error *error, mr_status other, const mr_error *cause)
{
    if (other == MR_OK)
        return;
    if (*status != MR_OK) {
        mr_cli_complain(cause);
        return;
    }
    *status = other;
    *error = *cause;
}

/* Signals and time_limit end the run with a report. A wait for a pipe is not ended by asking, so
 * there a signal ends the program, as it would without us. */
static mr_status sweep_file(mr_cli *cli, mr_sweep *sweep, mr_error *error)
{
    const char *path = cli->operands[0];
    int64_t limit = mr_config_int(cli->config, "time_limit");
    struct stat info;
    mr_halt halt = {.deadline_seconds = limit ? mr_seconds() + (double)limit : 0};
    mr_cli_progress progress;
    bool obeys = stat(path, &info) == 0 && S_ISREG(info.st_mode);
    mr_cli_progress_start(&progress, cli->config);
    if (obeys)
        mr_interrupt_start(&halt);
    mr_status status = mr_sweep_run(sweep, path, cli->config, &progress.progress, &halt, error);
    if (obeys)
        mr_interrupt_end();
    mr_cli_progress_end(&progress);
    return status;
}

static int exit_of(const mr_sweep *sweep)
{
    const mr_order_result *result = &sweep->result;
    bool open = result->list.race_count > result->counts[MR_STANDING_NO_RACE] ||
                result->observed.count > 0 || result->observed_untold;
    if (result->halted != MR_HALT_NONE)
        return MR_EXIT_INCOMPLETE;
    if (open)
        return MR_EXIT_RACES;
    return mr_ending_is_bad(&sweep->names->ending) ? MR_EXIT_BAD_END : 0;
}

/* All threads take memory from one heap. The few threads of an order seldom want it at once; and a
 * heap of a thread's own, in glibc, grows by a page and a system call each. */
static void share_heap(void)
{
#ifdef __GLIBC__
    enum { MORE_BYTES = 4 << 20 };
    (void)mallopt(M_ARENA_MAX, 1);
    (void)mallopt(M_TOP_PAD, MORE_BYTES);
#endif
}

mr_status mr_cli_order(mr_cli *cli, int *exit_status, mr_error *error)
{
    mr_sweep sweep;
    mr_error cause;
    mr_status status = mr_cli_probe(cli->config, error);
    if (status != MR_OK)
        return status;
    mr_config_resolve(cli->config);
    share_heap();
    status = sweep_file(cli, &sweep, error);
    if (status == MR_OK)
        status = mr_cli_check_trace(sweep.names, error);
    if (sweep.names != NULL && sweep.names->event_count > 0) {
        report self = {&sweep, cli->config};
        mr_cli_tell_dropped(sweep.names);
        add_failure(
            &status, error,
            mr_output_write(mr_config_text(cli->config, "output"), print_report, &self, &cause),
            &cause);
        add_failure(&status, error, write_witnesses(&sweep, cli->config, &cause), &cause);
        *exit_status = exit_of(&sweep);
    }
    mr_sweep_free(&sweep);
    return status;
}
