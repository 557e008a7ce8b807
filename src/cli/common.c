/* common: functions that commands on traces share. */
#include "cli.h"
#include "engine/predict.h"
#include "formats/read.h"
#include "output.h"
#include "witness_dir.h"

#include <inttypes.h>
#include <stdio.h>

mr_status mr_cli_probe(const mr_config *config, mr_error *error)
{
    const char *dir = mr_config_text(config, "witness.dir");
    mr_status status = mr_output_probe(mr_config_text(config, "output"), error);
    if (status == MR_OK && dir[0] != '\0')
        status = mr_witness_dir_make(dir, error);
    return status;
}

void mr_cli_tell_dropped(const mr_trace *trace)
{
    if (trace->dropped_count == 0)
        return;
    char line[1152];
    const char *plural = trace->dropped_count == 1 ? "" : "s";
    mr_error_line(&trace->first_dropped, line, sizeof line);
    fprintf(stderr, "maxrace: repair dropped %" PRIu64 " event%s or line%s; the first: %s\n",
            trace->dropped_count, plural, plural, line);
}

mr_status mr_cli_check_trace(const mr_trace *trace, mr_error *error)
{
    if (trace->event_count > 0)
        return MR_OK;
    return mr_error_set(error, MR_ERR_TRACE, trace->path, 0,
                        "the trace has no events, so nothing can be said about it");
}

mr_read_options mr_cli_read_options(const mr_config *config, const mr_cli_progress *progress)
{
    return (mr_read_options){.repair = mr_config_bool(config, "repair"),
                             .progress = &progress->progress,
                             .memory_bytes = mr_config_memory_bytes(config),
                             .spill_dir = mr_config_text(config, "memory.spill_dir")};
}

mr_status mr_cli_read_trace(const char *path, const mr_config *config, mr_cli_progress *progress,
                            mr_trace **trace, mr_error *error)
{
    mr_read_options options = mr_cli_read_options(config, progress);
    mr_status status = mr_trace_read(path, &options, trace, error);
    mr_cli_progress_end(progress);
    if (status == MR_OK)
        mr_cli_tell_dropped(*trace);
    return status;
}
