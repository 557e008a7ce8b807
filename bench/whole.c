/*
 * whole: programs run on whole traces, as Markdown.
 *
 *   whole wcp MAXRACE TRACE…
 *       prediction in rf with windows of 10,000 events beside the order wcp: how many times as long
 *       (make bench-wcp-ratio). All programs of a row take turns, ROUNDS times; best times. What
 * takes longer than ONCE_SECONDS runs once. whole large MAXRACE TRACE… prediction in rf and value
 * with the shipped configuration beside HB, SHB, WCP and SyncP: static races, seconds, peak memory
 * (make results, for traces of more than 10^6 events) whole peer MAXRACE TRACE… prediction in
 * windows of 1,000 and 10,000 events that do not overlap and without far races, as RVPredict works,
 * then as shipped: static races / seconds (make bench-peer)
 *
 * Environment: LIMIT_SECONDS for one run (default 300; large: 1200); SETTINGS="--flag=value …",
 * further flags of the predictions. Exit status 1: a run failed, or (large) a sound order found
 * more than a prediction without unknowns.
 */
#include "command.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3, ONCE_SECONDS = 10, MOST_FLAGS = 20, OWN_FLAGS = 8, TEXT_BYTES = 160 };

/* One program and its best run. */
typedef struct program {
    const char *flags[OWN_FLAGS]; /* ends with NULL */
    mr_bench_run run;             /* without output */
    bool ran;
    uint64_t races, unknown, events;
    char seconds[TEXT_BYTES]; /* "read 0.02, order 0.03 …" of its report */
} program;

static unsigned limit_seconds(unsigned otherwise)
{
    const char *limit = getenv("LIMIT_SECONDS");
    return limit != NULL ? (unsigned)strtoul(limit, NULL, 10) : otherwise;
}

static bool finished(const program *it)
{
    return it->ran && (it->run.status == 0 || it->run.status == 1); /* 1: races */
}

/* What follows `label` in the report, up to the end of the line. */
static void copy_after(const char *report, const char *label, char text[TEXT_BYTES])
{
    const char *at = strstr(report, label);
    text[0] = '\0';
    if (at == NULL)
        return;
    at += strlen(label);
    at += strspn(at, " 0123456789.:");
    snprintf(text, TEXT_BYTES, "%.*s", (int)strcspn(at, "\n"), at);
}

/* The first line has the events, the last one what was found. */
static void read_report(program *it, const char *report)
{
    const char *colon = strchr(report, ':'), *last = report;
    it->events = colon != NULL ? strtoull(colon + 1, NULL, 10) : 0;
    for (const char *at = report; (at = strchr(at, '\n')) != NULL && at[1] != '\0'; at++)
        last = at + 1;
    it->races = strtoull(last, NULL, 10); /* "no race" is 0 */
    const char *unknown = strstr(last, " candidate");
    while (unknown != NULL && unknown > last && unknown[-1] >= '0' && unknown[-1] <= '9')
        unknown--;
    it->unknown = unknown != NULL ? strtoull(unknown, NULL, 10) : 0;
    copy_after(report, "\n  seconds", it->seconds);
}

static void run(program *it, const char *maxrace, const char *trace, unsigned limit)
{
    if (it->ran && (!finished(it) || it->run.seconds > ONCE_SECONDS))
        return;
    const char *settings = getenv("SETTINGS"), *words[MOST_FLAGS + OWN_FLAGS] = {maxrace};
    char *flags = strdup(settings != NULL ? settings : ""), *rest = NULL;
    size_t count = 1;
    for (size_t i = 0; i < OWN_FLAGS && it->flags[i] != NULL; i++)
        words[count++] = it->flags[i];
    if (flags != NULL && strcmp(it->flags[0], "predict") == 0)
        for (char *flag = strtok_r(flags, " ", &rest); flag != NULL && count < MOST_FLAGS;
             flag = strtok_r(NULL, " ", &rest))
            words[count++] = flag;
    words[count] = trace;
    mr_bench_run now = mr_bench_run_command(words, limit, true);
    free(flags);
    if (!it->ran || now.seconds < it->run.seconds) {
        it->run = now;
        it->ran = true;
        if (finished(it) && now.output != NULL)
            read_report(it, now.output);
    }
    free(now.output);
    it->run.output = NULL;
}

static void print_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    printf("| %.*s |", (int)strcspn(base, "."), base);
}

static void print_stopped(const program *it)
{
    if (it->run.status == -1)
        printf(" stopped after %.0f s |", it->run.seconds);
    else
        printf(" failed (%d) |", it->run.status);
}

/* wcp */

static bool print_ratio(const char *maxrace, const char *trace)
{
    program wcp = {.flags = {"order", "--quiet", "--relation=wcp"}},
            alone = {.flags = {"order", "--quiet", "--relation=wcp", "--no-mark"}},
            rf = {.flags = {"predict", "--quiet", "--model=rf", "--window-size=10000"}};
    unsigned limit = limit_seconds(300);
    for (int round = 0; round < ROUNDS; round++) {
        run(&wcp, maxrace, trace, limit);
        run(&alone, maxrace, trace, limit);
        run(&rf, maxrace, trace, limit);
    }
    print_name(trace);
    bool ok = finished(&wcp) && finished(&alone) && finished(&rf);
    if (!ok)
        print_stopped(&rf);
    else
        printf(" %" PRIu64 " | %.3f | %.3f | %.3f | %.1f | %.1f | %" PRIu64 " | %" PRIu64 " | %s |",
               rf.events, wcp.run.seconds, alone.run.seconds, rf.run.seconds,
               rf.run.seconds / wcp.run.seconds, rf.run.seconds / alone.run.seconds, rf.races,
               rf.unknown, rf.seconds);
    puts("");
    fflush(stdout);
    return ok;
}

static bool print_ratios(const char *maxrace, char **traces, int count)
{
    bool ok = true;
    puts("| trace | events | wcp s | wcp, unmarked s | rf s | rf / wcp | rf / unmarked | static "
         "races | unknown | where |");
    puts("|---|--:|--:|--:|--:|--:|--:|--:|--:|---|");
    for (int i = 0; i < count; i++)
        ok = print_ratio(maxrace, traces[i]) && ok;
    return ok;
}

/* large */

enum { HB, SHB, WCP, SYNCP, RF, VALUE, PROGRAMS };

static bool print_large(const char *maxrace, const char *trace)
{
    program programs[PROGRAMS] = {
        {.flags = {"order", "--quiet", "--no-mark", "--no-witness-check", "--relation=hb"}},
        {.flags = {"order", "--quiet", "--no-mark", "--no-witness-check", "--relation=shb"}},
        {.flags = {"order", "--quiet", "--no-mark", "--no-witness-check", "--relation=wcp"}},
        {.flags = {"order", "--quiet", "--no-mark", "--no-witness-check", "--relation=syncp"}},
        {.flags = {"predict", "--quiet", "--model=rf"}},
        {.flags = {"predict", "--quiet", "--model=value"}},
    };
    bool ok = true;
    for (int p = 0; p < PROGRAMS; p++)
        run(&programs[p], maxrace, trace, limit_seconds(1200));
    print_name(trace);
    printf(" %" PRIu64 " |", programs[HB].events);
    for (int p = 0; p < PROGRAMS; p++) {
        const program *it = &programs[p];
        ok = ok && finished(it);
        if (!finished(it))
            print_stopped(it);
        else if (p < RF)
            printf(" %" PRIu64 " (%.1f, %.0f) |", it->races, it->run.seconds,
                   (double)it->run.peak_bytes / (1 << 20));
        if (p >= RF && !finished(it))
            printf(" | | |");
        else if (p >= RF)
            printf(" %" PRIu64 " | %" PRIu64 " | %.1f | %.0f |", it->races, it->unknown,
                   it->run.seconds, (double)it->run.peak_bytes / (1 << 20));
    }
    puts("");
    fflush(stdout);
    for (int p = RF; p < PROGRAMS; p++)
        for (int sound = SHB; sound <= SYNCP; sound += SYNCP - SHB)
            if (finished(&programs[p]) && finished(&programs[sound]) &&
                programs[p].races + programs[p].unknown < programs[sound].races) {
                fprintf(stderr, "whole: %s: fewer races than a weaker relation\n", trace);
                ok = false;
            }
    if (!ok)
        fprintf(stderr, "whole: %s: see its row\n", trace);
    return ok;
}

static bool print_all_large(const char *maxrace, char **traces, int count)
{
    bool ok = true;
    puts("| trace | events | HB (s, MiB) | SHB | WCP | SyncP | rf: races | unknown | s | peak MiB "
         "| value: races | unknown | s | peak MiB |");
    puts("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (int i = 0; i < count; i++)
        ok = print_large(maxrace, traces[i]) && ok;
    return ok;
}

/* peer */

static bool print_cell(const char *maxrace, const char *trace, program it)
{
    for (int round = 0; round < ROUNDS; round++)
        run(&it, maxrace, trace, limit_seconds(300));
    if (!finished(&it)) {
        print_stopped(&it);
        return false;
    }
    printf(" %" PRIu64, it.races);
    if (it.unknown > 0)
        printf(" + %" PRIu64 " unknown", it.unknown);
    printf(" / %.2f |", it.run.seconds);
    return true;
}

static bool print_windows(const char *maxrace, const char *trace, const char *size)
{
    static const char *const models[] = {"--model=rf", "--model=value"};
    bool ok = true;
    char window[40];
    snprintf(window, sizeof window, "--window-size=%s", size);
    print_name(trace);
    printf(" %s |", size);
    for (size_t m = 0; m < 2; m++) {
        program apart = {.flags = {"predict", "--quiet", models[m], window, "--window-overlap=0",
                                   "--candidates-far=none"}},
                half = {.flags = {"predict", "--quiet", models[m], window,
                                  "--candidates-far=none"}},
                shipped = {.flags = {"predict", "--quiet", models[m], window}};
        ok = print_cell(maxrace, trace, apart) && ok;
        ok = print_cell(maxrace, trace, half) && ok;
        ok = print_cell(maxrace, trace, shipped) && ok;
    }
    puts("");
    fflush(stdout);
    return ok;
}

static bool print_peer(const char *maxrace, char **traces, int count)
{
    bool ok = true;
    puts("| trace | window | rf: no overlap, no far | overlap, no far | shipped | value: no "
         "overlap, "
         "no far | overlap, no far | shipped |");
    puts("|---|--:|--:|--:|--:|--:|--:|--:|");
    for (int i = 0; i < count; i++) {
        ok = print_windows(maxrace, traces[i], "1000") && ok;
        ok = print_windows(maxrace, traces[i], "10000") && ok;
    }
    return ok;
}

int main(int argc, char **argv)
{
    if (argc >= 3 && strcmp(argv[1], "wcp") == 0)
        return print_ratios(argv[2], argv + 3, argc - 3) ? EXIT_SUCCESS : EXIT_FAILURE;
    if (argc >= 3 && strcmp(argv[1], "large") == 0)
        return print_all_large(argv[2], argv + 3, argc - 3) ? EXIT_SUCCESS : EXIT_FAILURE;
    if (argc >= 3 && strcmp(argv[1], "peer") == 0)
        return print_peer(argv[2], argv + 3, argc - 3) ? EXIT_SUCCESS : EXIT_FAILURE;
    fputs("usage: whole wcp|large|peer MAXRACE TRACE…\n", stderr);
    return 2;
}
