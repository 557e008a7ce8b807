/* common: functions that commands on traces share. */
#include "base/memory.h"
#include "base/seconds.h"
#include "cli.h"
#include "config/suggest.h"
#include "engine/predict.h"
#include "formats/read.h"
#include "output.h"
#include "trace/places.h"
#include "witness_dir.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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
    int64_t limit = mr_config_int(config, "time_limit");
    return (mr_read_options){.repair = mr_config_bool(config, "repair"),
                             .progress = &progress->progress,
                             .deadline_seconds = limit ? mr_seconds() + (double)limit : 0,
                             .memory_bytes = mr_config_memory_bytes(config),
                             .spill_dir = mr_config_text(config, "memory.spill_dir"),
                             .one_thread = mr_config_int(config, "jobs") == 1};
}

void mr_cli_tell_unmatched(const char *pattern, void *option)
{
    char quoted[MR_QUOTED_BYTES];
    fprintf(stderr, "maxrace: %s: the pattern %s matches no place and no function of the trace\n",
            (const char *)option, mr_quote(pattern, quoted));
}

/* Tells which patterns of the option, a list of places, match nothing. */
static mr_status check_places(const mr_trace *trace, const mr_config *config, char *option,
                              mr_error *error)
{
    const char *patterns = mr_config_text(config, option);
    if (patterns[0] == '\0')
        return MR_OK;
    bool *chosen = mr_calloc((size_t)trace->locations.count + 1, sizeof *chosen);
    if (chosen == NULL)
        return mr_error_memory(error, "matching the names of places");
    mr_status status =
        mr_places_match_list(trace, patterns, chosen, mr_cli_tell_unmatched, option, error);
    free(chosen);
    return status;
}

/* Without `branch` events, as the recorder writes them, the model takes every read for one on which nothing depends
 * (docs/semantics.md, section 2.6). */
static void tell_no_branches(const mr_trace *trace, const mr_config *config)
{
    if (mr_config_choice(config, "model") == MR_MODEL_BRANCH && trace->op_counts[MR_OP_BRANCH] == 0)
        fputs("maxrace: the trace has no branch events, so model branch assumes that nothing "
              "depends on what is read: it may report what cannot happen, and model value does "
              "not\n",
              stderr);
}

mr_status mr_cli_read_trace(const char *path, const mr_config *config, mr_cli_progress *progress,
                            mr_trace **trace, mr_error *error)
{
    mr_read_options options = mr_cli_read_options(config, progress);
    return mr_cli_read_trace_as(path, config, &options, progress, trace, error);
}

mr_status mr_cli_read_trace_as(const char *path, const mr_config *config,
                               const mr_read_options *options, mr_cli_progress *progress,
                               mr_trace **trace, mr_error *error)
{
    mr_status status = mr_trace_read(path, options, trace, error);
    mr_cli_progress_end(progress);
    if (status != MR_OK)
        return status;
    mr_cli_tell_dropped(*trace);
    tell_no_branches(*trace, config);
    static char ignored[] = "candidates.ignore_locations", only[] = "candidates.only_locations";
    status = check_places(*trace, config, ignored, error);
    if (status == MR_OK)
        status = check_places(*trace, config, only, error);
    if (status != MR_OK) {
        mr_trace_free(*trace);
        *trace = NULL;
    }
    return status;
}

/* The number of an event. */
static mr_status read_event(const char *text, uint32_t *event, mr_error *error)
{
    char quoted[MR_QUOTED_BYTES];
    size_t digits = strspn(text, "0123456789");
    if (!digits || digits > 9 || text[digits] != '\0')
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "--pair %s: expected two numbers of events, such as --pair 3 10",
                            mr_quote(text, quoted));
    *event = (uint32_t)strtoul(text, NULL, 10);
    return MR_OK;
}

mr_status mr_cli_read_pair(const mr_cli *cli, uint32_t *one, uint32_t *other, mr_error *error)
{
    mr_status status = read_event(cli->own[0], one, error);
    return status == MR_OK ? read_event(cli->own_second[0], other, error) : status;
}
