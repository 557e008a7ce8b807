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

/* json_dump_callback_t. In JSON, '<' stands in strings only. */
static int add_piece(const char *text, size_t length, void *context)
{
    mr_bytes *to = context;
    const char *end = text + length;
    for (const char *at; text < end && (at = memchr(text, '<', (size_t)(end - text)));
         text = at + 1) {
        mr_bytes_raw(to, text, (size_t)(at - text));
        mr_bytes_raw(to, "\\u003c", 6);
    }
    mr_bytes_raw(to, text, (size_t)(end - text));
    return to->failed ? -1 : 0;
}

mr_status mr_page_text(mr_bytes *to, mr_json value, mr_error *error)
{
    bool done = value.ok &&
                json_dump_callback(value.json, add_piece, to,
                                   JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9)) == 0;
    json_decref(value.json);
    return done ? MR_OK : mr_error_memory(error, "writing the report");
}

mr_status mr_page_json(FILE *stream, mr_json value, mr_error *error)
{
    mr_bytes text = {0};
    mr_status status = mr_page_text(&text, value, error);
    if (status == MR_OK)
        fwrite(text.items, 1, text.count, stream);
    mr_bytes_free(&text);
    return status == MR_OK && ferror(stream) ? mr_report_write_failed(NULL, error) : status;
}
