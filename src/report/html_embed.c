#include "html_embed.h"

#include "html_page.h"

#include <string.h>

/* The rest of the text after the line `mark`, of which the part before is written. */
static const char *write_up_to(FILE *stream, const char *text, const char *mark)
{
    const char *at = strstr(text, mark);
    if (!at)
        return text;
    fwrite(text, 1, (size_t)(at - text), stream);
    return at + strlen(mark);
}

void mr_page_begin(FILE *stream)
{
    const char *rest = write_up_to(stream, mr_page_html, "@STYLE@\n");
    fputs(mr_page_style, stream);
    write_up_to(stream, rest, "@DATA@\n");
}

void mr_page_end(FILE *stream)
{
    const char *rest = strstr(mr_page_html, "@DATA@\n");
    rest = write_up_to(stream, rest ? rest + strlen("@DATA@\n") : "", "@SCRIPT@\n");
    fputs(mr_page_script, stream);
    fputs(rest, stream);
}

/* In JSON, '<' stands in strings only. */
static int write_piece(const char *text, size_t length, void *context)
{
    FILE *stream = context;
    for (size_t i = 0; i < length; i++)
        if (text[i] == '<')
            fputs("\\u003c", stream);
        else
            fputc(text[i], stream);
    return 0;
}

mr_status mr_page_json(FILE *stream, mr_json value, mr_error *error)
{
    mr_status status = MR_OK;
    if (!value.ok ||
        json_dump_callback(value.json, write_piece, stream,
                           JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9)) != 0)
        status = mr_error_memory(error, "writing the report");
    else if (ferror(stream))
        status = mr_report_write_failed(NULL, error);
    json_decref(value.json);
    return status;
}
