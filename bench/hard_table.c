/*
 * hard_table: what hard traces cost, as Markdown (make bench-hard).
 *
 *   hard_table MAXRACE TRACE…
 *
 * Predicts each trace in the models rf and value with the shipped configuration, each time as a
 * program of its own. Environment: LIMIT_SECONDS for one run (default 150), MODELS (default "rf
 * value"), SETTINGS="--flag=value …" further flags. Exit status 1 when a run ends with an error;
 * a run that takes too long is a row.
 */
#include "command.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FLAGS = 20 };

/* The number at the start of the line that goes on with " race", or 0: no race. */
static unsigned long races_of(const char *output)
{
    for (const char *line = output; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        size_t digits = strspn(line, "0123456789");
        if (digits && strncmp(line + digits, " race", strlen(" race")) == 0)
            return strtoul(line, NULL, 10);
    }
    return 0;
}

/* Of ", 3 candidates unknown (budget)" the 3. */
static unsigned long unknown_of(const char *output)
{
    const char *at = strstr(output, " unknown (");
    while (at && at > output && *at != ',' && *at != '\n')
        at--;
    return at ? strtoul(at + 1, NULL, 10) : 0;
}

static mr_bench_run run(const char *maxrace, const char *model, const char *trace)
{
    const char *limit = getenv("LIMIT_SECONDS"), *settings = getenv("SETTINGS");
    char *flags = mr_strndup(settings ? settings : "", strlen(settings ? settings : ""));
    char *rest = NULL;
    const char *words[MOST_FLAGS + 12] = {maxrace,          "predict", "--quiet",
                                          "--report-shown", "1",       "--report-schedule",
                                          "none",           "--model", model};
    size_t count = 9;
    for (char *flag = flags ? strtok_r(flags, " ", &rest) : NULL; flag && count < MOST_FLAGS;
         flag = strtok_r(NULL, " ", &rest))
        words[count++] = flag;
    words[count] = trace;
    mr_bench_run result =
        mr_bench_run_command(words, limit ? (unsigned)strtoul(limit, NULL, 10) : 150, true);
    free(flags);
    return result;
}

/* False: the run ended with an error. */
static bool measure(const char *maxrace, const char *model, const char *trace)
{
    const char *slash = strrchr(trace, '/');
    mr_bench_run it = run(maxrace, model, trace);
    printf("| %.*s | %s |", (int)strcspn(slash ? slash + 1 : trace, "."), slash ? slash + 1 : trace,
           model);
    bool finished = it.output && (it.status == 0 || it.status == 1);
    if (finished)
        printf(" %.1f | %.1f | %.0f | %lu | %lu |\n", it.seconds, it.cpu_seconds,
               (double)it.peak_bytes / (1 << 20), races_of(it.output), unknown_of(it.output));
    else if (it.status == -1)
        printf(" > %.0f | %.1f | %.0f | | |\n", it.seconds, it.cpu_seconds,
               (double)it.peak_bytes / (1 << 20));
    else
        printf(" ended with %d | | | | |\n", it.status);
    fflush(stdout);
    free(it.output);
    return finished || it.status == -1;
}

int main(int argc, char **argv)
{
    const char *models = getenv("MODELS");
    bool ok = true;
    if (argc < 3) {
        fputs("usage: hard_table MAXRACE TRACE...\n", stderr);
        return 2;
    }
    puts("| trace | model | s | CPU s | peak MiB | races | unknown |");
    puts("|---|---|--:|--:|--:|--:|--:|");
    for (int i = 2; i < argc; i++) {
        char *list = mr_strndup(models ? models : "rf value", strlen(models ? models : "rf value"));
        char *rest = NULL;
        for (char *model = list ? strtok_r(list, " ", &rest) : NULL; model;
             model = strtok_r(NULL, " ", &rest))
            ok = measure(argv[1], model, argv[i]) && ok;
        free(list);
    }
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
