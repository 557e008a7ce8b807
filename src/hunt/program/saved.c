#include "saved.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static mr_status failed(mr_error *error, const char *path)
{
    return mr_error_set(error, MR_ERR_IO, path, 0, "cannot write: %s", strerror(errno));
}

mr_status mr_saved_text(const char *folder, const char *name, const char *text, mr_error *error)
{
    char path[3500];
    if (!text || !text[0])
        return MR_OK;
    snprintf(path, sizeof path, "%.3400s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (!file)
        return failed(error, path);
    fputs(text, file);
    return fclose(file) == 0 ? MR_OK : failed(error, path);
}

mr_status mr_saved_copy(const char *from, const char *to, mr_error *error)
{
    char bytes[1 << 14];
    size_t got;
    FILE *in = fopen(from, "rb"), *out = in ? fopen(to, "wb") : NULL;
    mr_status status = out ? MR_OK : failed(error, in ? to : from);
    while (!status && (got = fread(bytes, 1, sizeof bytes, in)) > 0)
        if (fwrite(bytes, 1, got, out) != got)
            status = failed(error, to);
    if (in)
        fclose(in);
    if (out && fclose(out) != 0 && !status)
        status = failed(error, to);
    return status;
}
