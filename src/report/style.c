/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _DEFAULT_SOURCE /* struct winsize */

#include "style.h"

#include "line.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH_MIN = 60 };

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] != '\0';
}

/* mpirun of Open MPI gives each rank a terminal, wherever its own output goes. */
static bool is_terminal(FILE *stream)
{
    int number = fileno(stream);
    return number >= 0 && isatty(number) && !is_set("OMPI_COMM_WORLD_SIZE");
}

static size_t terminal_width(FILE *stream)
{
    struct winsize size = {0};
    const char *columns = getenv("COLUMNS");
    size_t width = columns ? strtoul(columns, NULL, 10) : 0;
    if (width == 0 && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    if (width == 0)
        return MR_LINE_WIDTH;
    return width < WIDTH_MIN ? WIDTH_MIN : width > MR_LINE_WIDTH_MAX ? MR_LINE_WIDTH_MAX : width;
}

mr_style mr_style_of(FILE *stream, const mr_config *config)
{
    mr_style style = {.width = MR_LINE_WIDTH};
    bool terminal = is_terminal(stream);
    const char *term = getenv("TERM");
    if (terminal)
        style.width = terminal_width(stream);
    switch ((mr_color)mr_config_choice(config, "color")) {
    case MR_COLOR_ALWAYS:
        style.color = true;
        break;
    case MR_COLOR_AUTO:
        style.color = terminal && !is_set("NO_COLOR") && !(term && strcmp(term, "dumb") == 0);
        break;
    case MR_COLOR_NEVER:
        break;
    }
    return style;
}

void mr_style_begin(mr_style style, FILE *stream, mr_tone tone)
{
    static const char *const codes[] = {"\x1b[1m", "\x1b[1;31m", "\x1b[2m", "\x1b[32m"};
    if (style.color)
        fputs(codes[tone], stream);
}

void mr_style_end(mr_style style, FILE *stream)
{
    if (style.color)
        fputs("\x1b[0m", stream);
}
