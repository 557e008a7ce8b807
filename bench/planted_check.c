/*
 * planted_check: which of the planted races (planted.h) are found, as Markdown (make
 * bench-planted).
 *
 *   planted_check MAXRACE TRACE LIST
 *
 * Runs MAXRACE on TRACE: the orders hb and syncp, and the prediction in rf and in value with the
 * shipped configuration, each as a program of its own. For each kind and distance, "found" of the
 * pairs in LIST; what is found and not planted is an extra. Environment: LIMIT_SECONDS for one run
 * (default 600); SETTINGS="--flag=value …", further flags of the predictions. Exit status 1 when a
 * prediction misses one that its model can see, finds another, or does not finish.
 */
#include "base/memory.h"
#include "command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 64, MOST_FLAGS = 20, KINDS = 5, ANALYSES = 4 };

static const char *const kinds[KINDS] = {"hb", "syncp", "rf", "value", "none"};

typedef struct pair {
    uint32_t kind;
    uint64_t distance;
    char locations[2][NAME_BYTES];
    bool found[ANALYSES];
} pair;

typedef struct analysis {
    const char *title, *words[4];
    bool predicts;
    mr_bench_run run;
    uint64_t extra, unknown;
} analysis;

typedef struct checked {
    pair *pairs;
    size_t count, capacity;
    analysis analyses[ANALYSES]; /* as the kinds: each is to find its own and those before */
} checked;

/* The list. */

static bool add_pair(checked *self, const char *line)
{
    char kind[NAME_BYTES], distance[NAME_BYTES];
    pair it = {.kind = KINDS};
    if (sscanf(line, "%63s %63s %63s %63s", kind, distance, it.locations[0], it.locations[1]) != 4)
        return false;
    it.distance = strtoull(distance, NULL, 10);
    for (uint32_t k = 0; k < KINDS; k++)
        if (strcmp(kind, kinds[k]) == 0)
            it.kind = k;
    void *pairs = self->pairs;
    if (it.kind == KINDS || !mr_grow(&pairs, &self->capacity, self->count + 1, sizeof it))
        return false;
    self->pairs = pairs;
    self->pairs[self->count++] = it;
    return true;
}

static bool read_list(checked *self, const char *path)
{
    char line[4 * NAME_BYTES];
    FILE *file = fopen(path, "r");
    bool ok = file != NULL;
    while (ok && fgets(line, sizeof line, file) != NULL)
        ok = add_pair(self, line);
    if (file != NULL)
        fclose(file);
    if (!ok || self->count == 0)
        fprintf(stderr, "planted_check: %s is no list of planted races\n", path);
    return ok && self->count > 0;
}

/* The reports. */

/* The location in "  first   write at LOCATION by …"; false: this is no such line. */
static bool read_access(const char *line, const char *start, char location[NAME_BYTES])
{
    if (strncmp(line, start, strlen(start)) != 0)
        return false;
    size_t length = strcspn(line, "\n");
    for (const char *at = line; at + 4 < line + length; at++)
        if (strncmp(at, " at ", 4) == 0)
            return sscanf(at + 4, "%63s", location) == 1;
    return false;
}

static pair *find_pair(checked *self, const char *one, const char *two)
{
    for (size_t i = 0; i < self->count; i++) {
        pair *it = &self->pairs[i];
        if ((strcmp(it->locations[0], one) == 0 && strcmp(it->locations[1], two) == 0) ||
            (strcmp(it->locations[0], two) == 0 && strcmp(it->locations[1], one) == 0))
            return it;
    }
    return NULL;
}

static void read_report(checked *self, size_t number)
{
    analysis *it = &self->analyses[number];
    char first[NAME_BYTES], second[NAME_BYTES];
    const char *unknown = strstr(it->run.output, " unknown (");
    for (const char *line = it->run.output; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (*line == '\0')
            break;
        if (read_access(line, "  first ", first))
            continue;
        if (!read_access(line, "  second ", second))
            continue;
        pair *found = find_pair(self, first, second);
        if (found == NULL || found->kind == KINDS - 1)
            it->extra++;
        if (found != NULL)
            found->found[number] = true;
    }
    /* ", 3 candidates unknown (budget)" */
    while (unknown != NULL && unknown > it->run.output && *unknown != ',')
        unknown--;
    it->unknown = unknown != NULL ? strtoull(unknown + 1, NULL, 10) : 0;
}

static void run(checked *self, size_t number, const char *maxrace, const char *trace)
{
    analysis *it = &self->analyses[number];
    const char *limit = getenv("LIMIT_SECONDS"), *settings = getenv("SETTINGS");
    char *flags =
             mr_strndup(settings != NULL ? settings : "", strlen(settings != NULL ? settings : "")),
         *rest = NULL;
    const char *words[MOST_FLAGS + 8] = {maxrace};
    size_t count = 1;
    for (size_t i = 0; i < 4 && it->words[i] != NULL; i++)
        words[count++] = it->words[i];
    if (it->predicts && flags != NULL)
        for (char *flag = strtok_r(flags, " ", &rest); flag != NULL && count < MOST_FLAGS;
             flag = strtok_r(NULL, " ", &rest))
            words[count++] = flag;
    words[count] = trace;
    it->run =
        mr_bench_run_command(words, limit != NULL ? (unsigned)strtoul(limit, NULL, 10) : 600, true);
    free(flags);
    if (it->run.output != NULL && it->run.status >= 0 && it->run.status <= 1)
        read_report(self, number);
    free(it->run.output);
    it->run.output = NULL;
}

/* Printing. */

static void print_row(const checked *self, uint32_t kind, uint64_t distance)
{
    uint32_t planted = 0, found[ANALYSES] = {0};
    for (size_t i = 0; i < self->count; i++) {
        const pair *it = &self->pairs[i];
        if (it->kind != kind || it->distance != distance)
            continue;
        planted++;
        for (size_t a = 0; a < ANALYSES; a++)
            found[a] += it->found[a];
    }
    if (planted == 0)
        return;
    printf("| %s | %" PRIu64 " | %" PRIu32 " |", kinds[kind], distance, planted);
    for (size_t a = 0; a < ANALYSES; a++)
        printf(" %" PRIu32 " |", found[a]);
    puts("");
}

static void print_distances(const checked *self)
{
    uint64_t farthest = 0;
    for (size_t i = 0; i < self->count; i++)
        if (self->pairs[i].distance > farthest)
            farthest = self->pairs[i].distance;
    printf("| kind | distance | planted |");
    for (size_t a = 0; a < ANALYSES; a++)
        printf(" %s |", self->analyses[a].title);
    puts("\n|---|--:|--:|--:|--:|--:|--:|");
    for (uint32_t kind = 0; kind < KINDS; kind++)
        for (uint64_t distance = 100; distance <= farthest; distance *= 10)
            print_row(self, kind, distance);
}

/* False: the analysis is a prediction, and something is wrong with what it found. */
static bool print_analysis(const checked *self, size_t number)
{
    const analysis *it = &self->analyses[number];
    uint64_t found = 0, missed = 0;
    for (size_t i = 0; i < self->count; i++) {
        bool expected = self->pairs[i].kind <= number;
        found += expected && self->pairs[i].found[number];
        missed += expected && !self->pairs[i].found[number];
    }
    printf("| %s | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " |", it->title, found,
           missed, it->extra, it->unknown);
    bool finished = it->run.status == 0 || it->run.status == 1;
    if (finished)
        printf(" %.2f | %.0f |\n", it->run.seconds, (double)it->run.peak_bytes / (1 << 20));
    else
        printf(" stopped with %d after %.0f | |\n", it->run.status, it->run.seconds);
    if (!it->predicts || (finished && missed == 0 && it->extra == 0))
        return true;
    fprintf(stderr,
            "planted_check: %s: %s, %" PRIu64 " missed, %" PRIu64 " found that are not planted\n",
            it->title, finished ? "finished" : "not finished", missed, it->extra);
    return false;
}

int main(int argc, char **argv)
{
    checked self = {
        .analyses = {
            {"hb",
             {"order", "--no-mark", "--no-witness-check", "--relation=hb"},
             .predicts = false},
            {"syncp",
             {"order", "--no-mark", "--no-witness-check", "--relation=syncp"},
             .predicts = false},
            {"rf", {"predict", "--quiet", "--report-shown=0", "--model=rf"}, .predicts = true},
            {"value",
             {"predict", "--quiet", "--report-shown=0", "--model=value"},
             .predicts = true},
        }};
    if (argc != 4) {
        fputs("usage: planted_check MAXRACE TRACE LIST\n", stderr);
        return 2;
    }
    bool ok = read_list(&self, argv[3]);
    for (size_t a = 0; ok && a < ANALYSES; a++)
        run(&self, a, argv[1], argv[2]);
    if (ok) {
        print_distances(&self);
        puts("\n| analysis | found | missed | extra | unknown | s | peak MiB |");
        puts("|---|--:|--:|--:|--:|--:|--:|");
        for (size_t a = 0; a < ANALYSES; a++)
            ok = print_analysis(&self, a) && ok;
    }
    free(self.pairs);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
