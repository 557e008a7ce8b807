/*
 * ladder: single questions about windows of 500 to 10,000 events, decided by the ladder of steps
 * and by the plain formula of the papers, as Markdown (make bench-ladder).
 *
 *   ladder [TRACE…]
 *
 * Generated windows (ladder_windows.h) with values unique, of 8 and of 2, and windows spread over
 * the traces, in the models rf and value. For each cell of a table some pairs are drawn
 * (ladder_cell.h); the ladder is asked about all, eager about the first few of them. A group of
 * rows in which eager had no verdict for more than half of its pairs asks it no more at greater
 * sizes. Environment:
 *
 *   QUERIES=40         pairs of a row of the generated windows; of a trace it is half as many
 *   EAGER_QUERIES=6    of them, for eager, too; of a trace 2
 *   LIMIT_MS=1000      solver.timeout_ms of both, in the place of solver.rlimit; all other limits
 * are the shipped ones CELL_SECONDS=5     then no more is asked of a strategy in a row; four times
 * as much for traces SIZES="500 1000 2000 5000 10000"
 *
 * Exit status 1: the two gave different verdicts, eager had a verdict where the ladder had none, or
 * a witness was refused.
 */
#include "engine/predict.h"
#include "formats/read.h"
#include "ladder_cell.h"
#include "ladder_windows.h"
#include "predict/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_SIZES = 8,
    MOST_ROWS = 256,
    MOST_HARD = 4096,
    TRACE_WINDOWS = 4,
    GENERATED_WINDOWS = 2,
    WIDE = 10000
};

typedef struct row {
    uint32_t size;
    bool exact_values; /* rf, or unique values, on generated windows */
    double ladder_p95, eager_median, paired_median;
    bool eager_asked, bound; /* bound: half of eager's queries or more had no verdict */
} row;

typedef struct bench {
    mr_ladder_plan plan;
    uint32_t sizes[MOST_SIZES], size_count;
    /* Eager / ladder of the questions that cone and linearise do not settle, by size. */
    double hard[MOST_SIZES][MOST_HARD];
    uint32_t hard_count[MOST_SIZES];
    row rows[MOST_ROWS];
    uint32_t row_count;
    uint32_t disagreements, only_eager, rejected, compared;
    mr_ladder_cell *cell; /* of the row being measured */
    mr_error error;
} bench;

static double number(const char *name, double otherwise)
{
    const char *text = getenv(name);
    return text != NULL && *text != '\0' ? strtod(text, NULL) : otherwise;
}

/* Printing. */

static void print_head(const char *first)
{
    printf("| %s | model | events | window ms | queries | queries/s | p50 ms | p95 ms | max ms | "
           "race / no / unknown | settled by | eager: queries | queries/s | p50 ms | p95 ms | max "
           "ms | unknown | p50 eager / ladder |\n",
           first);
    puts("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|");
}

static double print_times(mr_ladder_side *side)
{
    double p95 = mr_ladder_quantile(side->seconds, side->count, 0.95);
    printf(" %" PRIu32 " | %.3g | %.3g | %.3g | %.3g |", side->count,
           side->total > 0 ? side->count / side->total : 0,
           1e3 * mr_ladder_quantile(side->seconds, side->count, 0.5), 1e3 * p95,
           1e3 * mr_ladder_quantile(side->seconds, side->count, 1));
    return p95;
}

static void print_steps(const mr_ladder_side *side)
{
    const char *separator = " ";
    for (mr_step step = 0; step < MR_STEP_COUNT; step++)
        if (side->settled[step] > 0) {
            printf("%s%s %" PRIu32, separator, mr_step_name(step), side->settled[step]);
            separator = ", ";
        }
    printf(" |");
}

static void keep_hard(bench *self, uint32_t s)
{
    const mr_ladder_cell *cell = self->cell;
    for (uint32_t i = 0; i < cell->eager.count && self->hard_count[s] < MOST_HARD; i++)
        if (cell->paired_hard[i])
            self->hard[s][self->hard_count[s]++] = cell->eager.seconds[i] / cell->paired[i];
}

/* The cell as a row, of the s-th size. */
static void print_row(bench *self, const char *first, mr_model model, uint32_t s, bool exact_values)
{
    mr_ladder_cell *cell = self->cell;
    uint32_t size = self->sizes[s];
    keep_hard(self, s); /* before the times are sorted */
    row *it = &self->rows[self->row_count++];
    *it = (row){.size = size, .exact_values = exact_values, .eager_asked = cell->eager.count > 0};
    printf("| %s | %s | %" PRIu32 " | %.3g |", first, mr_model_name(model), size,
           cell->windows > 0 ? 1e3 * cell->window_seconds / cell->windows : 0);
    it->ladder_p95 = print_times(&cell->ladder);
    printf(" %" PRIu32 " / %" PRIu32 " / %" PRIu32 " |", cell->ladder.race, cell->ladder.no_race,
           cell->ladder.unknown);
    print_steps(&cell->ladder);
    if (it->eager_asked) {
        print_times(&cell->eager);
        it->bound = 2 * cell->eager.unknown >= cell->eager.count;
        it->eager_median = mr_ladder_quantile(cell->eager.seconds, cell->eager.count, 0.5);
        it->paired_median = mr_ladder_quantile(cell->paired, cell->eager.count, 0.5);
        printf(" %" PRIu32 " | %s%.0f |\n", cell->eager.unknown, it->bound ? "> " : "",
               it->eager_median / it->paired_median);
    } else {
        puts(" – | | | | | | |");
    }
    self->compared += cell->eager.count - cell->eager.unknown;
    self->disagreements += cell->disagreements;
    self->only_eager += cell->only_eager;
    self->rejected += cell->rejected;
    fflush(stdout);
}

/* Generated windows. */

static mr_status ask_generated(bench *self, mr_ladder_family family, uint32_t values,
                               mr_model model, uint32_t size, bool ask_eager)
{
    mr_ladder_plan plan = self->plan;
    mr_status status = MR_OK;
    plan.queries = (plan.queries + GENERATED_WINDOWS - 1) / GENERATED_WINDOWS;
    plan.eager_queries = (plan.eager_queries + GENERATED_WINDOWS - 1) / GENERATED_WINDOWS;
    for (uint32_t seed = 1; status == MR_OK && seed <= GENERATED_WINDOWS; seed++) {
        size_t length;
        mr_trace *trace = NULL;
        mr_read_options options = {0};
        char *text = mr_ladder_window(family, values, size, seed, &length);
        if (text == NULL)
            return mr_error_memory(&self->error, "generating a window");
        status = mr_trace_read_text("window", text, length, &options, &trace, &self->error);
        free(text);
        if (status == MR_OK)
            status = mr_ladder_ask(self->cell, &plan, trace, "", 0, trace->event_count, model,
                                   ask_eager, &self->error);
        mr_trace_free(trace);
    }
    return status;
}

static mr_status measure_group(bench *self, mr_ladder_family family, uint32_t values,
                               mr_model model)
{
    char first[32] = "unique";
    bool ask_eager = true;
    mr_status status = MR_OK;
    if (values > 0)
        snprintf(first, sizeof first, "of %" PRIu32, values);
    for (uint32_t s = 0; status == MR_OK && s < self->size_count; s++) {
        memset(self->cell, 0, sizeof *self->cell);
        status = ask_generated(self, family, values, model, self->sizes[s], ask_eager);
        if (status == MR_OK)
            print_row(self, first, model, s, model == MR_MODEL_RF || values == 0);
        ask_eager = ask_eager && 2 * self->cell->eager.unknown <= self->cell->eager.count;
    }
    return status;
}

static mr_status measure_family(bench *self, mr_ladder_family family)
{
    static const uint32_t values[] = {0, 8, 2};
    printf("\n### Generated: %s\n\n", mr_ladder_family_name(family));
    print_head("values");
    mr_status status = measure_group(self, family, 0, MR_MODEL_RF);
    for (size_t v = 0; status == MR_OK && v < sizeof values / sizeof *values; v++)
        status = measure_group(self, family, values[v], MR_MODEL_VALUE);
    return status;
}

/* Traces. */

/* Windows of `size` events, spread over the trace; nothing when it is shorter. */
static mr_status ask_trace(bench *self, const char *path, mr_model model, uint32_t size,
                           bool ask_eager)
{
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    char name[64];
    mr_ladder_plan plan = self->plan;
    mr_trace *trace = NULL;
    mr_read_options options = {0};
    plan.queries = (plan.queries / 2 + TRACE_WINDOWS - 1) / TRACE_WINDOWS;
    plan.cell_seconds *= 4;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
    mr_status status = mr_trace_read(path, &options, &trace, &self->error);
    for (uint32_t k = 0; status == MR_OK && trace->event_count >= size && k < TRACE_WINDOWS; k++) {
        uint32_t start =
            (uint32_t)((uint64_t)(trace->event_count - size) * k / (TRACE_WINDOWS - 1));
        plan.eager_queries = k % 2; /* two a trace */
        status = mr_ladder_ask(self->cell, &plan, trace, name, start, start + size, model,
                               ask_eager, &self->error);
    }
    mr_trace_free(trace);
    return status;
}

static mr_status measure_traces(bench *self, mr_model model, char **paths, int count)
{
    bool ask_eager = true;
    mr_status status = MR_OK;
    for (uint32_t s = 0; status == MR_OK && s < self->size_count; s++) {
        char first[96];
        memset(self->cell, 0, sizeof *self->cell);
        for (int i = 0; status == MR_OK && i < count; i++)
            status = ask_trace(self, paths[i], model, self->sizes[s], ask_eager);
        if (status != MR_OK)
            break;
        snprintf(first, sizeof first, "%s", self->cell->worst_input);
        print_row(self, first, model, s, false);
        ask_eager = ask_eager && 2 * self->cell->eager.unknown <= self->cell->eager.count;
    }
    return status;
}

/* What it comes to. */

static void print_ratios(bench *self, uint32_t s)
{
    double ratios[MOST_ROWS];
    uint32_t size = self->sizes[s];
    uint32_t count = 0;
    bool bound = false;
    for (uint32_t i = 0; i < self->row_count; i++) {
        const row *it = &self->rows[i];
        if (it->size != size || !it->eager_asked)
            continue;
        ratios[count++] = it->eager_median / it->paired_median;
        bound = bound || it->bound;
    }
    if (count == 0)
        return;
    double median = mr_ladder_quantile(ratios, count, 0.5);
    double hard = mr_ladder_quantile(self->hard[s], self->hard_count[s], 0.5);
    printf("- %" PRIu32 " events: in the median of %" PRIu32
           " rows eager takes %s%.0f times as long (least %.0f, most %.0f)",
           size, count, bound ? "at least " : "", median, ratios[0], ratios[count - 1]);
    if (self->hard_count[s] > 0)
        printf("; in that of the %" PRIu32
               " questions that cone and linearise do not settle, %.0f times",
               self->hard_count[s], hard);
    puts(".");
}

static bool print_summary(bench *self)
{
    double worst = 0;
    for (uint32_t i = 0; i < self->row_count; i++)
        if (self->rows[i].size == WIDE && self->rows[i].exact_values &&
            self->rows[i].ladder_p95 > worst)
            worst = self->rows[i].ladder_p95;
    puts("\n### In short\n");
    for (uint32_t s = 0; s < self->size_count; s++)
        print_ratios(self, s);
    printf("- rf, and unique values: p95 at %d events is at most %.3g ms on generated windows.\n",
           WIDE, 1e3 * worst);
    printf("- %" PRIu32 " questions have a verdict of eager: %" PRIu32
           " times the ladder has another, %" PRIu32 " times none; %" PRIu32
           " witnesses refused.\n",
           self->compared, self->disagreements, self->only_eager, self->rejected);
    bool fine = !self->disagreements && !self->only_eager && !self->rejected;
    if (!fine)
        fputs("ladder: the strategies do not agree, or a witness was refused: see the last line\n",
              stderr);
    return fine;
}

static mr_status set_up(bench *self)
{
    char limit[32];
    const char *sizes = getenv("SIZES");
    mr_config *config = mr_config_new();
    if (config == NULL)
        return mr_error_memory(&self->error, "starting");
    snprintf(limit, sizeof limit, "%.0f", number("LIMIT_MS", 1000));
    mr_status status = mr_config_set(config, "solver.timeout_ms", limit, NULL, 0, &self->error);
    if (status == MR_OK)
        status = mr_config_set(config, "solver.rlimit", "0", NULL, 0, &self->error);
    self->plan = (mr_ladder_plan){.queries = (uint32_t)number("QUERIES", 40),
                                  .eager_queries = (uint32_t)number("EAGER_QUERIES", 6),
                                  .cell_seconds = number("CELL_SECONDS", 5),
                                  .seed = 1,
                                  .ladder = mr_predict_limits(config)};
    if (status == MR_OK)
        status = mr_config_set(config, "solver.strategy", "eager", NULL, 0, &self->error);
    self->plan.eager = mr_predict_limits(config);
    mr_config_free(config);
    char *end;
    for (const char *at = sizes != NULL && *sizes != '\0' ? sizes : "500 1000 2000 5000 10000";
         self->size_count < MOST_SIZES; at = end) {
        unsigned long size = strtoul(at, &end, 10);
        if (end == at)
            break;
        self->sizes[self->size_count++] = (uint32_t)size;
    }
    self->cell = calloc(1, sizeof *self->cell);
    return status == MR_OK && self->cell == NULL ? mr_error_memory(&self->error, "starting")
                                                 : status;
}

int main(int argc, char **argv)
{
    bench *self = calloc(1, sizeof *self);
    mr_status status = self != NULL ? set_up(self) : MR_ERR_MEMORY;
    for (mr_ladder_family family = 0; status == MR_OK && family < MR_LADDER_FAMILIES; family++)
        status = measure_family(self, family);
    if (status == MR_OK && argc > 1) {
        puts("\n### Traces\n");
        print_head("slowest in");
        status = measure_traces(self, MR_MODEL_RF, argv + 1, argc - 1);
        if (status == MR_OK)
            status = measure_traces(self, MR_MODEL_VALUE, argv + 1, argc - 1);
    }
    bool fine = status == MR_OK && print_summary(self);
    if (self != NULL && status != MR_OK) {
        char line[256];
        mr_error_line(&self->error, line, sizeof line);
        fprintf(stderr, "ladder: %s\n", line);
    }
    if (self != NULL)
        free(self->cell);
    free(self);
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
