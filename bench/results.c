/*
 * results: what is found in given traces, as the Markdown table of docs/results.md (make results).
 *
 *   results TRACE…
 *
 * Each trace is predicted in rf and in value, each in a process of its own with the shipped
 * settings (SETTINGS=key=value changes one), and its SHB static races are counted as a lower
 * bound that any sound and complete predictor must reach.
 */
#include "formats/read.h"
#include "measure.h"
#include "order/detect/detect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mr_bench_row measure(const char *path, const char *model)
{
    const char *settings[] = {model, getenv("SETTINGS"), NULL};
    mr_bench_row row;
    mr_bench_task task = {.input = path, .settings = settings, .limit_seconds = 1200};
    mr_bench_measure(&task, &row);
    return row;
}

/* Static races of schedulable happens-before over the whole trace; -1: it cannot be read. */
static long shb_races(const char *path)
{
    mr_trace *trace;
    mr_error error;
    mr_race_list races;
    mr_read_options options = {0};
    if (mr_trace_read(path, &options, &trace, &error) != MR_OK)
        return -1;
    mr_status status = mr_detect(MR_RELATION_SHB, trace, &(mr_detect_options){0}, &races, &error);
    long count = status == MR_OK ? (long)races.race_count : -1;
    mr_race_list_free(&races);
    mr_trace_free(trace);
    return count;
}

static void print_model(const mr_bench_row *row)
{
    if (!row->finished) {
        printf(" %s | | | |", row->problem);
        return;
    }
    const mr_stats *s = &row->stats;
    printf(" %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %.2f |", s->candidates, row->races,
           row->unknown, row->run.total_seconds);
}

/* True when every witness was accepted and no SHB race is missing. */
static bool print_trace(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    mr_bench_row rf = measure(path, "model=rf"), value = measure(path, "model=value");
    long shb = shb_races(path);
    printf("| %.*s | %" PRIu32 " | %" PRIu64 " | %ld |", (int)strcspn(name, "."), name, rf.events,
           rf.stats.windows, shb);
    print_model(&rf);
    print_model(&value);
    printf(" %.0f |\n", (double)value.peak_bytes / (1 << 20));
    fflush(stdout);
    bool accepted = !rf.stats.rejected_witnesses && !value.stats.rejected_witnesses;
    bool enough = (long)rf.races >= shb && value.races >= rf.races;
    if (!rf.finished || !value.finished || !accepted || !enough)
        fprintf(stderr, "results: %s: %s\n", path,
                !accepted ? "a witness was rejected"
                : !enough ? "fewer races than a weaker relation"
                          : "not finished");
    return rf.finished && value.finished && accepted && enough;
}

int main(int argc, char **argv)
{
    bool fine = argc > 1;
    puts("| trace | events | windows | SHB | rf: candidates | races | unknown | s "
         "| value: candidates | races | unknown | s | peak MiB |");
    puts("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (int i = 1; i < argc; i++)
        fine = print_trace(argv[i]) && fine;
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
