/*
 * rdit: what is found in incomplete traces, as in Tables 2 and 3 of the RDIT paper (Huang and
 * Rajagopalan, OOPSLA 2016), as Markdown (make bench-rdit).
 *
 *   rdit TRACE…
 *
 * Of each trace the first EVENTS events (default 10,000) are used, as one window, so that
 * prediction decides each pair for good. The races (static ones, of value) of this full trace are
 * the ground truth. Then code is taken out (src/exclude): RUNS times (default 3) a tenth, a quarter
 * and half of the locations at random, and once every location that synchronises. What is reported
 * on the rest:
 *
 *   HB, WCP      whole-trace orders, which know nothing of calls
 *   ignore       prediction that knows nothing of calls (MC in the paper)
 *   pair         calls keep the order of what they can reach (RDIT)
 *   simple       calls keep all their order (SB)
 *   whole runs   pair, on calls as whole as the runs are (exclude.h): what section 4 of the
 *                semantics alone is worth when calls overlap
 *
 * Each cell is "true/false": reported static races that are in the ground truth, and that are not.
 * A pair of locations that the ground truth could not decide (unknown) is neither; "open" counts
 * them. Exit status 1 when pair or simple has a false alarm, or simple a true race more than pair.
 */
#include "engine/predict.h"
#include "exclude/choose.h"
#include "exclude/exclude.h"
#include "formats/pack/input.h"
#include "formats/read.h"
#include "order/detect/detect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 16, DIVISORS = 3 };

typedef enum method { HB, WCP, IGNORE, PAIR, SIMPLE, WHOLE_RUNS, METHODS } method;

static const char *const opaque_words[METHODS] = {
    [IGNORE] = "ignore", [PAIR] = "pair", [SIMPLE] = "simple", [WHOLE_RUNS] = "pair"};

typedef struct score {
    uint64_t right, wrong;
} score;

typedef struct table_row {
    score scores[METHODS];
    uint64_t truth, open, unknown; /* unknown: pairs that pair or simple could not decide */
    uint64_t runs, left, calls;    /* events and calls that remain, in all runs */
} table_row;

/* A set of pairs of locations of the full trace; the lower number first. */
typedef struct pairs {
    mr_u32s numbers; /* two a pair */
} pairs;

typedef struct ground {
    const mr_trace *trace;
    pairs races, unknown;
} ground;

static void die(const char *what, const mr_error *error)
{
    char line[1152];
    mr_error_line(error, line, sizeof line);
    fprintf(stderr, "rdit: %s: %s\n", what, line);
    exit(2);
}

static void no_memory(void)
{
    fputs("rdit: out of memory\n", stderr);
    exit(2);
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

/* Pairs of locations. */

static bool has_pair(const pairs *set, uint32_t low, uint32_t high)
{
    for (size_t i = 0; i + 1 < set->numbers.count; i += 2)
        if (set->numbers.items[i] == low && set->numbers.items[i + 1] == high)
            return true;
    return false;
}

/* True when it is new. */
static bool add_pair(pairs *set, uint32_t a, uint32_t b)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    if (has_pair(set, low, high))
        return false;
    if (!mr_u32s_push(&set->numbers, low) || !mr_u32s_push(&set->numbers, high))
        no_memory();
    return true;
}

/* The number that a location of another trace has in the full one. */
static uint32_t full_location(const ground *truth, const mr_trace *trace, uint32_t location)
{
    const mr_name *name = &trace->locations.items[location];
    uint32_t number = 0;
    if (!mr_names_find(&truth->trace->locations, name->text, name->length, &number))
        fprintf(stderr, "rdit: location %s is not in the full trace\n", name->text);
    return number;
}

/* Reading. */

static char *read_lines(const char *path, uint64_t events, size_t *length)
{
    mr_input *input = NULL;
    mr_error error = {0};
    char *text = NULL;
    size_t capacity = 0, used = 0, got = 1, end = 0;
    if (mr_input_open(path, &input, &error) != MR_OK)
        die(path, &error);
    while (got > 0 && events > 0) {
        void *grown = text;
        if (!mr_grow(&grown, &capacity, used + BLOCK_BYTES, 1))
            no_memory();
        text = grown;
        if (mr_input_read(input, text + used, BLOCK_BYTES, &got, &error) != MR_OK)
            die(path, &error);
        used += got;
        for (const char *stop;
             events > 0 && (stop = memchr(text + end, '\n', used - end)) != NULL;) {
            events -= text[end] != '#' && text[end] != '\n';
            end = (size_t)(stop - text) + 1;
        }
    }
    mr_input_close(input);
    *length = events > 0 ? used : end;
    return text;
}

static mr_trace *read_start(const char *path, uint64_t events)
{
    mr_trace *trace = NULL;
    mr_error error = {0};
    mr_read_options options = {0};
    size_t length;
    char *text = read_lines(path, events, &length);
    if (mr_trace_read_text(path, text, length, &options, &trace, &error) != MR_OK)
        die(path, &error);
    free(text);
    return trace;
}

/* Finding. */

/* One window has all there is, and nobody sees the witnesses. */
static void predict(const mr_trace *trace, const char *opaque, mr_result *result)
{
    const char *const settings[][2] = {{"model", "value"},
                                       {"opaque", opaque},
                                       {"window.size", "0"},
                                       {"candidates.far", "none"},
                                       {"witness.minimise", "false"}};
    mr_error error = {0};
    mr_config *config = mr_config_new();
    if (config == NULL)
        no_memory();
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (mr_config_set(config, settings[i][0], settings[i][1], NULL, 0, &error) != MR_OK)
            die(trace->path, &error);
    if (mr_predict(trace, config, NULL, result, &error) != MR_OK)
        die(trace->path, &error);
    mr_config_free(config);
}

static void find_truth(const mr_trace *trace, ground *truth)
{
    mr_result result = {0};
    truth->trace = trace;
    predict(trace, "pair", &result);
    for (size_t i = 0; i < result.race_count; i++)
        add_pair(&truth->races, trace->location[result.races[i].witness.first],
                 trace->location[result.races[i].witness.second]);
    for (size_t i = 0; i < result.unknown_count; i++)
        add_pair(&truth->unknown, trace->location[result.unknowns[i].first],
                 trace->location[result.unknowns[i].second]);
    mr_result_free(&result);
}

static void judge(const ground *truth, const pairs *found, method how, table_row *row)
{
    for (size_t i = 0; i + 1 < found->numbers.count; i += 2) {
        uint32_t low = found->numbers.items[i], high = found->numbers.items[i + 1];
        if (has_pair(&truth->races, low, high))
            row->scores[how].right++;
        else if (has_pair(&truth->unknown, low, high))
            row->open++;
        else
            row->scores[how].wrong++;
    }
}

static void add_found(const ground *truth, const mr_trace *trace, uint32_t a, uint32_t b,
                      pairs *found)
{
    add_pair(found, full_location(truth, trace, a), full_location(truth, trace, b));
}

static void try_order(const ground *truth, const mr_trace *trace, method how, table_row *row)
{
    mr_race_list list;
    mr_error error = {0};
    mr_detect_options options = {0};
    pairs found = {0};
    mr_relation relation = how == HB ? MR_RELATION_HB : MR_RELATION_WCP;
    if (mr_detect(relation, trace, &options, &list, &error) != MR_OK)
        die(trace->path, &error);
    for (size_t i = 0; i < list.race_count; i++)
        add_found(truth, trace, list.races[i].low, list.races[i].high, &found);
    judge(truth, &found, how, row);
    mr_u32s_free(&found.numbers);
    mr_race_list_free(&list);
}

static void try_prediction(const ground *truth, const mr_trace *trace, method how, table_row *row)
{
    mr_result result = {0};
    pairs found = {0};
    predict(trace, opaque_words[how], &result);
    for (size_t i = 0; i < result.race_count; i++)
        add_found(truth, trace, trace->location[result.races[i].witness.first],
                  trace->location[result.races[i].witness.second], &found);
    judge(truth, &found, how, row);
    if (how == PAIR || how == SIMPLE)
        row->unknown += result.unknown_count;
    mr_u32s_free(&found.numbers);
    mr_result_free(&result);
}

/* Excluding. */

static mr_trace *remaining(const mr_trace *trace, const mr_exclude_options *options,
                           mr_exclude_counts *counts)
{
    mr_trace *rest = NULL;
    mr_error error = {0};
    if (mr_exclude(trace, options, &rest, counts, &error) != MR_OK)
        die(trace->path, &error);
    return rest;
}

static void try_choice(const ground *truth, const bool *chosen, table_row *row)
{
    mr_exclude_counts counts;
    mr_exclude_options calls = {.chosen = chosen}, none = {.chosen = chosen, .no_calls = true};
    mr_exclude_options whole = {.chosen = chosen, .whole_runs = true};
    mr_trace *bare = remaining(truth->trace, &none, NULL);
    mr_trace *rest = remaining(truth->trace, &calls, &counts);
    mr_trace *runs = remaining(truth->trace, &whole, NULL);
    try_order(truth, bare, HB, row);
    try_order(truth, bare, WCP, row);
    try_prediction(truth, rest, IGNORE, row);
    try_prediction(truth, rest, PAIR, row);
    try_prediction(truth, rest, SIMPLE, row);
    try_prediction(truth, runs, WHOLE_RUNS, row);
    row->runs++;
    row->truth += truth->races.numbers.count / 2;
    row->left += bare->event_count;
    row->calls += counts.calls;
    mr_trace_free(bare);
    mr_trace_free(rest);
    mr_trace_free(runs);
}

/* Locations with an operation that is neither a plain access nor a branch. */
static void choose_synchronising(const mr_trace *trace, bool *chosen)
{
    for (uint32_t event = 0; event < trace->event_count; event++) {
        uint8_t op = trace->op[event];
        if (op != MR_OP_READ && op != MR_OP_WRITE && op != MR_OP_BRANCH && op != MR_OP_BEGIN &&
            op != MR_OP_END)
            chosen[trace->location[event]] = true;
    }
}

/* Printing. */

static void print_row(const char *name, const char *what, const table_row *row)
{
    uint64_t runs = row->runs > 0 ? row->runs : 1;
    printf("| %s | %s | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " |", name, what,
           row->runs, row->left / runs, row->calls / runs, row->truth);
    for (int how = 0; how < METHODS; how++)
        printf(" %" PRIu64 "/%" PRIu64 " |", row->scores[how].right, row->scores[how].wrong);
    printf(" %" PRIu64 " | %" PRIu64 " |\n", row->open, row->unknown);
    fflush(stdout);
}

static void add_row(table_row *sum, const table_row *row)
{
    for (int how = 0; how < METHODS; how++) {
        sum->scores[how].right += row->scores[how].right;
        sum->scores[how].wrong += row->scores[how].wrong;
    }
    sum->truth += row->truth;
    sum->open += row->open;
    sum->unknown += row->unknown;
    sum->runs += row->runs;
    sum->left += row->left;
    sum->calls += row->calls;
}

static void measure(const char *path, table_row *total)
{
    static const uint32_t divisors[DIVISORS] = {10, 4, 2};
    static const char *const words[DIVISORS] = {"a tenth", "a quarter", "half"};
    mr_trace *trace = read_start(path, setting("EVENTS", 10000));
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    char name[64];
    ground truth = {0};
    snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
    bool *chosen = mr_calloc((size_t)trace->locations.count + 1, sizeof *chosen);
    if (chosen == NULL)
        no_memory();
    find_truth(trace, &truth);
    for (int i = 0; i <= DIVISORS; i++) {
        table_row row = {0};
        uint64_t runs = i < DIVISORS ? setting("RUNS", 3) : 1;
        for (uint64_t seed = 1; seed <= runs; seed++) {
            memset(chosen, 0, trace->locations.count * sizeof *chosen);
            if (i == DIVISORS)
                choose_synchronising(trace, chosen);
            else if (!mr_choose_random(trace, trace->locations.count / divisors[i] + 1, seed,
                                       chosen))
                no_memory();
            try_choice(&truth, chosen, &row);
        }
        print_row(name, i < DIVISORS ? words[i] : "synchronisation", &row);
        add_row(total, &row);
    }
    mr_u32s_free(&truth.races.numbers);
    mr_u32s_free(&truth.unknown.numbers);
    free(chosen);
    mr_trace_free(trace);
}

int main(int argc, char **argv)
{
    table_row total = {0};
    if (argc < 2) {
        fputs("usage: rdit TRACE…\n", stderr);
        return 2;
    }
    puts("| trace | taken out | runs | events left | calls | races | HB | WCP | ignore | pair "
         "| simple | pair, whole runs | open | unknown |");
    puts("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (int i = 1; i < argc; i++)
        measure(argv[i], &total);
    print_row("all", "", &total);
    const score *pair = &total.scores[PAIR], *simple = &total.scores[SIMPLE];
    bool fine = pair->wrong == 0 && simple->wrong == 0 && pair->right >= simple->right;
    if (!fine)
        fputs("rdit: a false alarm, or fewer races than with simple barriers\n", stderr);
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
