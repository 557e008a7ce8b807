#include "trace_output.h"

#include "formats/mrt/mrt_write.h"

#include <string.h>

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), count = strlen(end);
    return length > count && strcmp(name + length - count, end) == 0;
}

static mr_status choose(const char *name, mr_trace_format *format, mr_error *error)
{
    *format = (mr_trace_format){.binary = ends_with(name, ".mrt")};
    if (name[0] == '\0')
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "the name of the output is empty; - is standard output");
    if (ends_with(name, ".mrt.gz") || ends_with(name, ".mrt.zst"))
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            ".mrt files are not packed; write the .mrt file, or a packed text");
    if (ends_with(name, ".gz"))
        format->packing = MR_PACKING_GZIP;
    else if (ends_with(name, ".zst"))
        format->packing = MR_PACKING_ZSTD;
    return MR_OK;
}

mr_status mr_trace_output_open(mr_output *output, const char *path, mr_trace_format *format,
                               mr_error *error)
{
    mr_status status = choose(path, format, error);
    if (status == MR_OK)
        status = mr_output_probe(path, error);
    return status == MR_OK ? mr_output_open(output, path, error) : status;
}

mr_status mr_trace_output_write(FILE *stream, mr_trace_format format, const mr_trace *trace,
                                const struct mr_progress *progress, mr_error *error)
{
    if (format.binary)
        return mr_mrt_write(stream, trace, progress, error);
    return mr_text_write(stream, format.packing, trace, progress, error);
}

/* An error without a place is about the output. */
static void set_place(mr_error *error, const char *path)
{
    char text[sizeof error->text];
    memcpy(text, error->text, sizeof text);
    if (error->status == MR_ERR_IO && error->file[0] == '\0')
        mr_error_set(error, MR_ERR_IO, strcmp(path, "-") != 0 ? path : "<stdout>", 0, "%s", text);
}

mr_status mr_trace_output_close(mr_output *output, const char *path, mr_status status,
                                mr_error *error)
{
    if (status != MR_OK)
        set_place(error, path);
    mr_status closed = mr_output_close(output, status == MR_OK, status != MR_OK ? NULL : error);
    return status != MR_OK ? status : closed;
}
