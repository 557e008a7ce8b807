#include "suppressions.h"

#include "scheduler.h"
#include "sys.h"
#include "writer.h"

#include <stdbool.h>
#include <stddef.h>

/* The program's, or the empty one of report_api.c. */
MR_EXPORT const char *__tsan_default_suppressions(void);

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* A line that is cut off would match more findings than the whole line, so a long line is left out. */
static void log_line(const char *begin, const char *end)
{
    char line[MR_LOG_TEXT_BYTES];
    while (begin < end && is_blank(*begin)) {
        begin++;
    }
    while (end > begin && is_blank(end[-1])) {
        end--;
    }
    if (begin == end || *begin == '#') {
        return;
    }
    size_t length = (size_t)(end - begin);
    bool fits = length < sizeof line;
    mr_copy_text(line, fits ? length + 1 : sizeof line, begin);
    if (fits) {
        mr_write_text(MR_LOG_SUPPRESSION, 0, line);
    } else {
        mr_complain("a suppression of the program is too long, and is not used: ", line);
    }
}

void mr_suppressions_log(void)
{
    static const char
        *text; /* kept: in a child of a fork the program's function is not called again */
    if (text == NULL) {
        text = __tsan_default_suppressions();
    }
    for (const char *at = text; at != NULL && *at != '\0';) {
        const char *end = at;
        while (*end != '\0' && *end != '\n') {
            end++;
        }
        log_line(at, end);
        at = *end == '\n' ? end + 1 : end;
    }
}
