/* options: the table and the search in it. */
#include "config.h"
#include "suggest.h"

#include <string.h>

#define BOOL(key, value, flag, help)                                                               \
    {key, MR_OPTION_BOOL, (value) ? 1 : 0, "", 0, 1, "true|false", "", flag, help},
#define INT(key, value, low, high, unit, flag, help)                                               \
    {key, MR_OPTION_INT, value, "", low, high, "", unit, flag, help},
#define CHOICE(key, word, words, flag, help)                                                       \
    {key, MR_OPTION_CHOICE, 0, word, 0, 0, words, "", flag, help},
#define LIST(key, list, words, flag, help)                                                         \
    {key, MR_OPTION_LIST, 0, list, 0, 0, words, "", flag, help},
#define TEXT(key, text, what, flag, help)                                                          \
    {key, MR_OPTION_TEXT, 0, text, 0, 0, "", what, flag, help},

/* "text|json|…": each word brings a bar, and the first bar is left out. */
#define BAR_AND_WORD(id, word) "|" word
#define FORMAT_WORDS           (&MR_FORMAT_MAP(BAR_AND_WORD)[1])

const mr_option mr_options[] = {
#include "options.def"
};

#undef BOOL
#undef INT
#undef CHOICE
#undef LIST
#undef TEXT
#undef FORMAT_WORDS
#undef BAR_AND_WORD

const size_t mr_option_count = sizeof mr_options / sizeof mr_options[0];

/* Every other option can change the result or what the report says of it. */
static const char *const run_only[] = {
    "output",      "quiet",           "color",           "report.run",
    "jobs",        "checkpoint",      "resume",          "time_limit",
    "witness.dir", "memory.limit_mb", "memory.spill_dir"};

bool mr_config_is_run_only(size_t option)
{
    for (size_t i = 0; i < sizeof run_only / sizeof *run_only; i++)
        if (strcmp(mr_options[option].key, run_only[i]) == 0)
            return true;
    return false;
}

/* An option that is not listed here decides, a new one as well. */
bool mr_config_decides(size_t option)
{
    static const char *const others[] = {"format",    "brief",    "source_dir",    "suppressions",
                                         "baseline",  "fail_on",  "witness.check", "relation",
                                         "relations", "examples", "mark",          "confirm"};
    const char *key = mr_options[option].key;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(key, others[i]) == 0)
            return false;
    return !mr_config_is_run_only(option) && strncmp(key, "record.", 7) != 0 &&
           strncmp(key, "report.", 7) != 0;
}

int mr_config_find(const char *key)
{
    for (size_t i = 0; i < mr_option_count; i++)
        if (strcmp(mr_options[i].key, key) == 0)
            return (int)i;
    return -1;
}

int mr_config_suggest(const char *text)
{
    int best = -1;
    size_t best_distance = mr_suggest_limit(text) + 1;
    for (size_t i = 0; i < mr_option_count; i++) {
        const char *key = mr_options[i].key;
        const char *dot = strchr(key, '.');
        size_t distance = mr_edit_distance(text, key);
        /* `size` or `timeout-ms` alone: the section was forgotten. */
        if (dot != NULL && mr_edit_distance(text, dot + 1) == 0)
            distance = distance < 1 ? distance : 1;
        if (distance < best_distance) {
            best_distance = distance;
            best = (int)i;
        }
    }
    return best;
}
