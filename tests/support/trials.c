#include "trials.h"

#include "formats/read.h"
#include "generate.h"
#include "length.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mr_trial_wrong(mr_trial *trial, const char *format, ...)
{
    if (trial->wrong[0])
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(trial->wrong, sizeof trial->wrong, format, arguments);
    va_end(arguments);
}

bool mr_trial_text(mr_trial *trial, const char *text, mr_trial_examine *examine, void *context)
{
    mr_error error = {0};
    mr_read_options options = {0};
    trial->wrong[0] = '\0';
    if (mr_trace_read_text("random.std", text, strlen(text), &options, &trial->trace, &error) !=
        MR_OK) {
        mr_trial_wrong(trial, "line %" PRIu64 ": %s", error.line, error.text);
        return false;
    }
    examine(trial, context);
    mr_trace_free(trial->trace);
    trial->trace = NULL;
    return true;
}

/* `text` without its line number `line`; false: it has fewer lines. */
static bool drop_line(const char *text, uint32_t line, char *shorter)
{
    const char *start = text;
    for (; line > 0 && *start; line--)
        start = strchr(start, '\n') + 1;
    if (!*start)
        return false;
    size_t before = (size_t)(start - text);
    memcpy(shorter, text, before);
    strcpy(shorter + before, strchr(start, '\n') + 1);
    return true;
}

/* Drops events as long as something stays wrong; `text` becomes the shortest such trace. */
static void shrink(char *text, mr_trial *trial, mr_trial_examine *examine, void *context)
{
    char *shorter = malloc(strlen(text) + 1);
    assert_non_null(shorter);
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t line = 0; drop_line(text, line, shorter);) {
            if (mr_trial_text(trial, shorter, examine, context) && trial->wrong[0]) {
                strcpy(text, shorter);
                changed = true;
            } else {
                line++;
            }
        }
    }
    free(shorter);
    mr_trial_text(trial, text, examine, context);
}

static uint64_t number_from_environment(const char *prefix, const char *name, uint64_t otherwise)
{
    char variable[64];
    snprintf(variable, sizeof variable, "%s_%s", prefix, name);
    return mr_number_from_environment(variable, otherwise);
}

/* The shape that the environment names, or `otherwise`; MR_SHAPE_WITH_GOALS for all in turn. */
static mr_shape shape_from_environment(const char *prefix, const char *otherwise)
{
    char variable[64];
    snprintf(variable, sizeof variable, "%s_SHAPE", prefix);
    const char *text = getenv(variable);
    int shape = 0;
    if (!text || !*text)
        text = otherwise;
    if (!text)
        return MR_SHAPE_WITH_GOALS;
    while (shape < MR_SHAPE_WITH_GOALS && strcmp(text, mr_shape_name((mr_shape)shape)) != 0)
        shape++;
    if (shape == MR_SHAPE_WITH_GOALS)
        fail_msg("%s=%s: no such shape", variable, text);
    return (mr_shape)shape;
}

uint64_t mr_trials_run(const mr_trials *trials, mr_trial_examine *examine, void *context)
{
    uint64_t wanted = mr_length_of(trials->share ? trials->share : trials->traces, trials->traces);
    uint64_t traces = number_from_environment(trials->prefix, "TRACES", wanted);
    uint64_t seed = number_from_environment(trials->prefix, "SEED", trials->seed);
    mr_shape only = shape_from_environment(trials->prefix, trials->shape);
    uint64_t shapes = trials->all_kinds ? MR_SHAPE_ALL : MR_SHAPE_COUNT;
    if (trials->goals)
        shapes = MR_SHAPE_WITH_GOALS;
    mr_trial trial = {0};
    for (uint64_t i = 0; i < traces; i++) {
        mr_shape shape = only == MR_SHAPE_WITH_GOALS ? (mr_shape)(i % shapes) : only;
        trial.seed = seed + i;
        mr_random random = {trial.seed};
        trial.choice = mr_random_next(&random) >> 8;
        char *text = trials->longer ? mr_generate_longer_trace(trial.seed, shape)
                                    : mr_generate_trace(trial.seed, shape);
        assert_non_null(text);
        mr_trial_text(&trial, text, examine, context);
        if (trial.wrong[0]) {
            print_error("%s\n%s", trial.wrong, text);
            shrink(text, &trial, examine, context);
            print_error("rerun: %s_SEED=%" PRIu64 " %s_SHAPE=%s %s_TRACES=1\nshortened:\n%s\n%s",
                        trials->prefix, trial.seed, trials->prefix, mr_shape_name(shape),
                        trials->prefix, trial.wrong, text);
            free(text);
            fail_msg("a random trace is not what it should be");
        }
        free(text);
    }
    print_message("%" PRIu64 " traces from seed %" PRIu64 "\n", traces, seed);
    return traces;
}
