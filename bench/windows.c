#include "windows.h"

#include "report/plots.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { RACES, UNKNOWN, SECONDS, QUANTITIES };

/* By timeout: a value for each window size that was measured to its end. */
typedef struct column {
    char name[64];
    size_t count;
    double size[MR_BENCH_MOST_CELLS], value[QUANTITIES][MR_BENCH_MOST_CELLS];
} column;

static void measure_cell(const char *trace, const char *size, const char *timeout_ms,
                         mr_bench_measurer *measure, column *to)
{
    char size_setting[128], timeout_setting[128];
    snprintf(size_setting, sizeof size_setting, "window.size=%s", size);
    snprintf(timeout_setting, sizeof timeout_setting, "solver.timeout_ms=%s", timeout_ms);
    const char *settings[] = {size_setting, timeout_setting, "solver.rlimit=0", NULL};
    mr_bench_row row = measure(trace, settings);
    if (row.finished) {
        double events = strtod(size, NULL);
        to->size[to->count] = events > 0 ? events : (double)row.events;
        to->value[RACES][to->count] = (double)row.races;
        to->value[UNKNOWN][to->count] = (double)row.unknown;
        to->value[SECONDS][to->count++] = row.run.total_seconds;
        printf(" %" PRIu64 " / %" PRIu64 " / %.2f |", row.races, row.unknown,
               row.run.total_seconds);
    } else {
        printf(" %s |", row.problem);
    }
    fflush(stdout);
}

static bool write_page(const char *path, const char *trace, const column *columns, size_t count)
{
    static const char *const titles[] = {"races", "unknown candidates", "seconds"};
    mr_curve curves[QUANTITIES][MR_BENCH_MOST_CELLS];
    mr_plot plots[QUANTITIES];
    char title[512];
    mr_error error = {0};
    snprintf(title, sizeof title, "%.400s over window sizes and solver timeouts", trace);
    for (size_t q = 0; q < QUANTITIES; q++) {
        for (size_t i = 0; i < count; i++)
            curves[q][i] = (mr_curve){.name = columns[i].name,
                                      .x = columns[i].size,
                                      .y = columns[i].value[q],
                                      .count = columns[i].count};
        plots[q] = (mr_plot){.title = titles[q],
                             .x_name = "window size (events)",
                             .y_name = titles[q],
                             .logarithmic = true,
                             .curves = curves[q],
                             .count = count};
    }
    mr_plot_page page = {.title = title, .plots = plots, .plot_count = QUANTITIES};
    FILE *file = fopen(path, "w");
    bool ok = file != NULL && mr_plots_write(file, &page, &error) == MR_OK;
    ok = file != NULL && fclose(file) == 0 && ok;
    if (!ok)
        fprintf(stderr, "%s: the page cannot be written: %s\n", path, strerror(errno));
    return ok;
}

bool mr_bench_windows(const char *trace, const mr_bench_axis *sizes, const mr_bench_axis *timeouts,
                      mr_bench_measurer *measure, const char *page)
{
    static column columns[MR_BENCH_MOST_CELLS];
    const char *slash = strrchr(trace, '/'), *name = slash ? slash + 1 : trace;
    printf("`%s`: races / unknown / seconds\n\n| window |", name);
    for (size_t t = 0; t < timeouts->count; t++) {
        columns[t] = (column){.count = 0};
        snprintf(columns[t].name, sizeof columns[t].name, "%.40s ms", timeouts->items[t]);
        printf(" %s |", columns[t].name);
    }
    printf("\n|--:|");
    for (size_t t = 0; t < timeouts->count; t++)
        printf("--:|");
    puts("");
    for (size_t s = 0; s < sizes->count; s++) {
        printf("| %s |", sizes->items[s]);
        for (size_t t = 0; t < timeouts->count; t++)
            measure_cell(trace, sizes->items[s], timeouts->items[t], measure, &columns[t]);
        puts("");
    }
    return page[0] == '\0' || write_page(page, name, columns, timeouts->count);
}
