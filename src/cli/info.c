/* info: prints the contents of a trace in numbers. */
#include "trace/info.h"
#include "cli.h"

#include <errno.h>
#include <string.h>

mr_status mr_cli_info(mr_cli *cli, int *exit_status, mr_error *error)
{
    mr_trace *trace = NULL;
    mr_trace_info info;
    mr_cli_progress progress;
    *exit_status = 0;
    mr_cli_progress_start(&progress, cli->config);
    mr_status status = mr_cli_read_trace(cli->operands[0], cli->config, &progress, &trace, error);
    mr_cli_progress_end(&progress);
    if (status != MR_OK)
        return status;
    status = mr_trace_info_compute(trace, &info, error);
    errno = 0;
    if (status == MR_OK && !mr_trace_info_print(stdout, trace, &info))
        status = mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot write to standard output: %s",
                              strerror(errno != 0 ? errno : EIO));
    mr_trace_free(trace);
    return status;
}
