#include "formats.h"

#include "html_report.h"

#include <string.h>

const mr_format_row mr_formats[MR_FORMAT_COUNT] = {
    [MR_FORMAT_TEXT] = {mr_predict_report_text, mr_order_report_text, &mr_comparison_text,
                        &mr_runs_text, mr_hunt_report_text},
    [MR_FORMAT_JSON] = {mr_predict_report_json, mr_order_report_json, &mr_comparison_json,
                        &mr_runs_json, mr_hunt_report_json},
    [MR_FORMAT_CSV] = {.compare = &mr_comparison_csv},
    [MR_FORMAT_MARKDOWN] = {.compare = &mr_comparison_markdown},
    [MR_FORMAT_SARIF] = {.predict = mr_predict_report_sarif, .runs = &mr_runs_sarif},
    [MR_FORMAT_JUNIT] = {.predict = mr_predict_report_junit, .runs = &mr_runs_junit},
    [MR_FORMAT_PERFETTO] = {.predict = mr_predict_report_perfetto},
    [MR_FORMAT_DOT] = {.predict = mr_predict_report_dot},
    [MR_FORMAT_HTML] = {.predict = mr_predict_report_html,
                        .compare = &mr_comparison_html,
                        .runs = &mr_runs_html,
                        .hunt = mr_hunt_report_html},
};

static const char *const words[MR_FORMAT_COUNT] = {
#define WORD(id, word) [MR_FORMAT_##id] = (word),
    MR_FORMAT_MAP(WORD)
#undef WORD
};

/* The command that a subject is named by. */
static const char *const subject_names[MR_SUBJECT_COUNT] = {"",        "predict", "order",
                                                            "compare", "run",     "hunt"};

const mr_format_row *mr_format_chosen(const mr_config *config)
{
    return &mr_formats[mr_config_choice(config, "format")];
}

bool mr_format_has(mr_format format, mr_subject subject)
{
    const mr_format_row *row = &mr_formats[format];
    switch (subject) {
    case MR_SUBJECT_PREDICT:
        return row->predict != NULL;
    case MR_SUBJECT_ORDER:
        return row->order != NULL;
    case MR_SUBJECT_COMPARE:
        return row->compare != NULL;
    case MR_SUBJECT_RUNS:
        return row->runs != NULL;
    case MR_SUBJECT_HUNT:
        return row->hunt != NULL;
    case MR_SUBJECT_NONE:
    case MR_SUBJECT_COUNT:
        break;
    }
    return false;
}

/* A list of words under construction: "text", "text, json", "text, json or csv". */
typedef struct word_list {
    char text[256];
    const char *last; /* the word that is not in the text yet; NULL: none */
} word_list;

static void add_text(word_list *list, const char *before, const char *text)
{
    size_t length = strlen(list->text);
    snprintf(list->text + length, sizeof list->text - length, "%s%s", before, text);
}

static void add_word(word_list *list, const char *word)
{
    if (list->last != NULL)
        add_text(list, list->text[0] != '\0' ? ", " : "", list->last);
    list->last = word;
}

/* The list with `joint` (" or ") before its last word. */
static const char *end_words(word_list *list, const char *joint)
{
    if (list->last != NULL)
        add_text(list, list->text[0] != '\0' ? joint : "", list->last);
    list->last = NULL;
    return list->text;
}

mr_status mr_format_check(const mr_config *config, mr_subject subject, const char *command,
                          mr_error *error)
{
    mr_format asked = (mr_format)mr_config_choice(config, "format");
    if (subject == MR_SUBJECT_NONE || mr_format_has(asked, subject))
        return MR_OK;
    word_list offered = {.last = NULL}, others = {.last = NULL};
    for (int format = 0; format < MR_FORMAT_COUNT; format++)
        if (mr_format_has((mr_format)format, subject))
            add_word(&offered, words[format]);
    for (int other = MR_SUBJECT_NONE + 1; other < MR_SUBJECT_COUNT; other++)
        if (mr_format_has(asked, (mr_subject)other))
            add_word(&others, subject_names[other]);
    uint64_t line;
    const char *file = mr_config_place(config, "format", &line);
    return mr_error_set(error, MR_ERR_CONFIG, file, line,
                        "format: '%s' reports as %s; %s is for '%s'", command,
                        end_words(&offered, " or "), words[asked], end_words(&others, "' and '"));
}
