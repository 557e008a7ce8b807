/*
 * profiles: what `profile` stands for. A profile changes how much effort a question gets, and never
 * what a verdict means: what the effort does not cover is unknown, and the report says so.
 */
#include "store.h"

#include <string.h>

typedef struct row {
    const char *key, *quick, *thorough; /* NULL: as ever */
} row;

static const row rows[] = {
    {"window.far_race_work", "2000000", "1000000000"},
    {"window.far_work", "25000000", "10000000000"},
    {"candidates.far", "syncp", NULL},
    {"candidates.max_unanswered", "1", "64"},
    {"candidates.max_window_steps", "100000000", "0"},
    {"solver.steps", "filter,cone,linearise,eliminate,greedy,saturate,explore", NULL},
    {"solver.saturate_steps", "1000000", "1000000000"},
    {"solver.rlimit", NULL, "200000000"},
    {"solver.timeout_ms", NULL, "600000"},
};

const char *mr_profile_text(mr_profile profile, const char *key)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].key, key) == 0)
            return profile == MR_PROFILE_QUICK      ? rows[i].quick
                   : profile == MR_PROFILE_THOROUGH ? rows[i].thorough
                                                    : NULL;
    return NULL;
}

static void print_profile(FILE *stream, const char *name, mr_profile profile)
{
    const char *comma = "";
    fprintf(stream, "- `%s`: ", name);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = mr_profile_text(profile, rows[i].key);
        if (text == NULL)
            continue;
        fprintf(stream, "%s`%s: %s`", comma, rows[i].key, text);
        comma = ", ";
    }
    fputs("\n", stream);
}

void mr_config_print_profiles(FILE *stream)
{
    print_profile(stream, "quick", MR_PROFILE_QUICK);
    print_profile(stream, "thorough", MR_PROFILE_THOROUGH);
}
