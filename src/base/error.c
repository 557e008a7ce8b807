#include "error.h"

#include <stdarg.h>
#include <stdio.h>

mr_status mr_error_set(mr_error *error, mr_status status, const char *file, uint64_t line,
                       const char *format, ...)
{
    if (!error)
        return status;
    error->status = status;
    error->line = line;
    snprintf(error->file, sizeof error->file, "%s", file ? file : "");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return status;
}

mr_status mr_error_memory(mr_error *error, const char *what)
{
    return mr_error_set(error, MR_ERR_MEMORY, NULL, 0, "out of memory while %s", what);
}

void mr_error_line(const mr_error *error, char *buffer, size_t size_bytes)
{
    if (!error->file[0])
        snprintf(buffer, size_bytes, "%s", error->text);
    else if (!error->line)
        snprintf(buffer, size_bytes, "%s: %s", error->file, error->text);
    else
        snprintf(buffer, size_bytes, "%s:%llu: %s", error->file, (unsigned long long)error->line,
                 error->text);
}

int mr_status_exit(mr_status status)
{
    switch (status) {
#define MR_STATUS_EXIT(name, exit_status)                                                          \
    case MR_##name:                                                                                \
        return exit_status;
        MR_STATUS_MAP(MR_STATUS_EXIT)
#undef MR_STATUS_EXIT
    }
    return 4;
}
