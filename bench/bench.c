/*
 * bench: time, memory and races as Markdown tables.
 *
 *   bench table [FOLDER]
 *       examples, generated traces, the *.xstd.zst of FOLDER (make bench)
 *   bench windows TRACE [SIZES [TIMEOUTS [PAGE]]]
 *       one trace over window sizes and solver timeouts, as a table and as a page with plots
 *       (make bench-windows)
 *
 * Every row is a process of its own. Environment: SETTINGS="key=value …" for all rows;
 * LIMIT_SECONDS for a row (default 300).
 */
#include "generate.h"
#include "measure.h"
#include "windows.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 32, WORD_BYTES = 96, SETTING_COUNT = 3 };

/* A list of words, kept together. */
typedef struct words {
    char items[MOST_WORDS][WORD_BYTES];
    size_t count;
} words;

/* Splits at blanks; what is more or longer than there is room for is left out. */
static words split(const char *text)
{
    words list = {.count = 0};
    while (*(text += strspn(text, " \t")) != '\0' && list.count < MOST_WORDS) {
        size_t length = strcspn(text, " \t");
        snprintf(list.items[list.count++], WORD_BYTES, "%.*s", (int)length, text);
        text += length;
    }
    return list;
}

/* Measures with the settings of a row (`own`, ends with NULL) after those of the environment. */
static mr_bench_row measure(const char *input, const char *const *own)
{
    const char *environment = getenv("SETTINGS"), *limit = getenv("LIMIT_SECONDS");
    words common = split(environment != NULL ? environment : "");
    const char *settings[MOST_WORDS + SETTING_COUNT + 1];
    size_t count = 0;
    for (size_t i = 0; i < common.count; i++)
        settings[count++] = common.items[i];
    for (; *own != NULL; own++)
        settings[count++] = *own;
    settings[count] = NULL;
    mr_bench_row row;
    mr_bench_task task = {input, settings,
                          limit != NULL ? (unsigned)strtoul(limit, NULL, 10) : 300};
    mr_bench_measure(&task, &row);
    return row;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static void print_row(const char *name, const mr_bench_row *row)
{
    const mr_stats *s = &row->stats;
    printf("| %s ", name);
    if (!row->finished) {
        printf("| %s | | | | | | | | | |\n", row->problem);
        return;
    }
    printf("| %" PRIu32 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64
           " | %.2f | %.2f | %.2f | %.2f | %.2f "
           "| %.0f | %.0f |\n",
           row->events, s->candidates, row->races, row->unknown, row->run.read_seconds,
           row->run.order_seconds, row->run.window_seconds, row->run.decide_seconds,
           row->run.total_seconds,
           row->run.total_seconds > 0 ? row->events / row->run.total_seconds : 0,
           (double)row->peak_bytes / (1 << 20));
}

static void print_table_head(void)
{
    puts("| trace | events | candidates | races | unknown | read s | orders s | windows s | decide "
         "s "
         "| total s | events/s | peak MiB |");
    puts("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
}

static void measure_and_print(const char *input)
{
    const char *none[] = {NULL};
    mr_bench_row row = measure(input, none);
    print_row(base_name(input), &row);
    fflush(stdout);
}

static int compare_text(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* One row for each file of the folder whose name ends so, by name. False: the folder cannot be
 * read. */
static bool measure_folder(const char *folder, const char *ending)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, compare_text);
    if (count < 0) {
        fprintf(stderr, "bench: cannot read the folder %s\n", folder);
        return false;
    }
    for (int i = 0; i < count; i++) {
        char path[4096];
        size_t length = strlen(entries[i]->d_name);
        if (length > strlen(ending) &&
            strcmp(entries[i]->d_name + length - strlen(ending), ending) == 0) {
            snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
            measure_and_print(path);
        }
        free(entries[i]);
    }
    free(entries);
    return true;
}

static void print_setting(const mr_bench_row *row, double first_seconds)
{
    printf("| %" PRIu64 " | %" PRIu64 " | %.2f | %.2f | ", row->races, row->unknown,
           row->run.decide_seconds, row->run.total_seconds);
    if (first_seconds > 0)
        printf("%.2f", row->run.total_seconds / first_seconds);
    printf(" | %.0f |\n", (double)row->peak_bytes / (1 << 20));
}

/* The same trace with one setting after the other changed; ratios are against the first row. */
static void compare_settings(const char *input)
{
    static const char *const settings[] = {
        NULL,
        "window.size=300",
        "window.size=0",
        "model=rf",
        "solver.steps=filter,cone,z3",
        "candidates.prefilter=hb",
    };
    double first_seconds = 0;
    printf("\n`%s` with other settings:\n\n", input);
    puts("| settings | races | unknown | decide s | total s | time against the first row | peak "
         "MiB |");
    puts("|---|--:|--:|--:|--:|--:|--:|");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const char *own[] = {settings[i], NULL};
        mr_bench_row row = measure(input, own);
        if (i == 0)
            first_seconds = row.run.total_seconds;
        printf("| %s ", settings[i] != NULL ? settings[i] : "as shipped");
        if (row.finished)
            print_setting(&row, first_seconds);
        else
            printf("| %s | | | | | |\n", row.problem);
        fflush(stdout);
    }
}

static int bench_table(const char *folder)
{
    print_table_head();
    bool ok = measure_folder("examples", ".std");
    for (size_t i = 0; i < mr_bench_shape_count; i++)
        measure_and_print(mr_bench_shapes[i].name);
    if (folder != NULL)
        ok = measure_folder(folder, ".xstd.zst") && ok;
    compare_settings("racy-2k");
    compare_settings("few-values-1k");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

static mr_bench_axis axis_of(const words *list)
{
    mr_bench_axis axis = {.count = 0};
    while (axis.count < list->count && axis.count < MR_BENCH_MOST_CELLS) {
        axis.items[axis.count] = list->items[axis.count];
        axis.count++;
    }
    return axis;
}

static int bench_windows(const char *trace, const char *sizes_text, const char *timeouts_text,
                         const char *page)
{
    words sizes = split(*sizes_text != '\0' ? sizes_text : "1000 2000 5000 10000 20000");
    words timeouts = split(*timeouts_text != '\0' ? timeouts_text : "100 500 2000 10000");
    mr_bench_axis down = axis_of(&sizes), across = axis_of(&timeouts);
    return mr_bench_windows(trace, &down, &across, measure, page) ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    if (argc >= 2 && argc <= 3 && strcmp(argv[1], "table") == 0)
        return bench_table(argc > 2 && *argv[2] != '\0' ? argv[2] : NULL);
    if (argc >= 3 && argc <= 6 && strcmp(argv[1], "windows") == 0)
        return bench_windows(argv[2], argc > 3 ? argv[3] : "", argc > 4 ? argv[4] : "",
                             argc > 5 ? argv[5] : "");
    fputs("usage: bench table [FOLDER]\n       bench windows TRACE [SIZES [TIMEOUTS [PAGE]]]\n",
          stderr);
    return 2;
}
