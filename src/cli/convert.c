/* convert: a trace from one format into another. */
#include "cli.h"
#include "output.h"
#include "trace/mrt_convert.h"
#include "trace/text_write.h"

#include <string.h>

typedef struct conversion {
    bool binary;
    mr_packing packing; /* of a text */
} conversion;

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), count = strlen(end);
    return length > count && strcmp(name + length - count, end) == 0;
}

/* The name says which format is meant. */
static mr_status choose(const char *name, conversion *target, mr_error *error)
{
    *target = (conversion){.binary = ends_with(name, ".mrt")};
    if (name[0] == '\0')
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "the name of the output is empty; - is standard output");
    if (ends_with(name, ".mrt.gz") || ends_with(name, ".mrt.zst"))
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            ".mrt files are not packed; write the .mrt file, or a packed text");
    if (ends_with(name, ".gz"))
        target->packing = MR_PACKING_GZIP;
    else if (ends_with(name, ".zst"))
        target->packing = MR_PACKING_ZSTD;
    return MR_OK;
}

/* Errors without a place are the output's. */
static void set_place(mr_error *error, const char *path)
{
    char text[sizeof error->text];
    memcpy(text, error->text, sizeof text);
    if (error->status == MR_ERR_IO && error->file[0] == '\0')
        mr_error_set(error, MR_ERR_IO, strcmp(path, "-") != 0 ? path : "<stdout>", 0, "%s", text);
}

static mr_status write_trace(const mr_cli *cli, conversion target, FILE *stream, mr_error *error)
{
    mr_trace *trace = NULL;
    mr_cli_progress progress;
    mr_cli_progress_start(&progress, cli->config);
    mr_read_options options = {.repair = mr_config_bool(cli->config, "repair"),
                               .progress = &progress.progress};
    const char *path = cli->operands[0];
    mr_status status = target.binary ? mr_mrt_convert(path, &options, stream, &trace, error)
                                     : mr_trace_read(path, &options, &trace, error);
    mr_cli_progress_end(&progress);
    if (status == MR_OK)
        mr_cli_tell_dropped(trace);
    if (status == MR_OK && !target.binary)
        status = mr_text_write(stream, target.packing, trace, &progress.progress, error);
    mr_cli_progress_end(&progress);
    mr_trace_free(trace);
    return status;
}

mr_status mr_cli_convert(mr_cli *cli, int *exit_status, mr_error *error)
{
    mr_output output;
    conversion target;
    const char *path = cli->operands[1];
    *exit_status = 0;
    mr_status status = choose(path, &target, error);
    if (status == MR_OK)
        status = mr_output_probe(path, error);
    if (status == MR_OK)
        status = mr_output_open(&output, path, error);
    if (status != MR_OK)
        return status;
    status = write_trace(cli, target, output.stream, error);
    if (status != MR_OK)
        set_place(error, path);
    mr_status closed = mr_output_close(&output, status == MR_OK, status != MR_OK ? NULL : error);
    return status != MR_OK ? status : closed;
}
