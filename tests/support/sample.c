#include "sample.h"
#include "formats/read.h"

#include <stdio.h>
#include <string.h>

mr_trace *mr_sample_trace(const char *text)
{
    mr_trace *trace = NULL;
    mr_error error = {0};
    mr_read_options options = {0};
    if (mr_trace_read_text("sample.std", text, strlen(text), &options, &trace, &error) == MR_OK)
        return trace;
    char line[1200];
    mr_error_line(&error, line, sizeof line);
    fprintf(stderr, "%s\n%s\n", line, text);
    return NULL;
}
