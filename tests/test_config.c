/* The option table, the YAML reader with one broken file per way to be wrong, and the documents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/model.h"
#include "config/config.h"
#include "support/scratch.h"
#include "witness/witness.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The configuration as its YAML file, owned by the caller. */
static char *yaml_of(const mr_config *config)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    mr_config_print_yaml(stream, config);
    fclose(stream);
    return text;
}

typedef struct bad {
    const char *name; /* tests/configs/bad/NAME.yaml */
    uint64_t line;
    const char *text;
} bad;

static const bad bad_files[] = {
    {"alias-bomb", 1, "anchors and aliases (&name, *name) are not allowed here; write the value"},
    {"alias", 1, "anchors and aliases (&name, *name) are not allowed here; write the value"},
    {"anchor", 1, "anchors and aliases (&name, *name) are not allowed here; write the value"},
    {"bad-indentation", 3,
     "not valid YAML: did not find expected key (while parsing a block mapping, line 1)"},
    {"boolean-in-quotes", 1, "repair: expected true or false, found a text in quotes"},
    {"choice-empty", 1, "model: expected one word, found nothing"},
    {"choice-in-capitals", 1, "model: 'RF' is not one of rf|value|branch"},
    {"choice-with-bar", 1, "model: 'rf|value' is not one of rf|value|branch"},
    {"control-character", 2, "not valid YAML: control characters are not allowed"},
    {"duplicate-key-dotted", 3, "duplicate key 'window.size'"},
    {"duplicate-key-in-section", 3, "duplicate key 'window.size'"},
    {"duplicate-key", 3, "duplicate key 'model'"},
    {"duplicate-section", 4, "duplicate key 'window'"},
    {"key-is-mapping", 1, "a key must be a single word"},
    {"list-for-scalar", 2, "model: expected one word, found a list"},
    {"list-for-section", 1, "window: expected a mapping of keys, found a list"},
    {"mapping-for-scalar", 3, "window.size: expected a whole number, found a mapping"},
    {"missing-colon", 3,
     "not valid YAML: could not find expected ':' (while scanning a simple key, line 2)"},
    {"nested-too-deeply", 8, "mappings are nested too deeply"},
    {"nesting-flood", 1, "mappings are nested too deeply"},
    {"not-a-boolean", 1, "repair: 'yes' is not one of true|false"},
    {"not-a-choice", 1, "model: 'hb' is not one of rf|value|branch"},
    {"not-a-number", 2, "window.size: 'many' is not a whole number (0 to 4294967293 events)"},
    {"not-utf8", 3, "not valid YAML: incomplete UTF-8 octet sequence"},
    {"number-beyond-64-bits", 2,
     "solver.max_clauses: '99999999999999999999' is out of range (0 to 4294967293 clauses)"},
    {"number-in-quotes", 2, "window.size: expected a whole number, found a text in quotes"},
    {"number-missing", 2, "window.size: expected a whole number, found nothing"},
    {"number-negative", 2, "window.size: '-1' is out of range (0 to 4294967293 events)"},
    {"number-too-large", 2,
     "window.overlap: '4294967294' is out of range (-1 to 4294967293 events)"},
    {"number-with-exponent", 2,
     "window.size: '1e4' is not a whole number (0 to 4294967293 events)"},
    {"number-with-fraction", 2,
     "window.size: '1.5' is not a whole number (0 to 4294967293 events)"},
    {"number-with-unit", 2, "solver.timeout_ms: '2s' is not a whole number (0 to 86400000 ms)"},
    {"scalar-for-section", 2,
     "window: expected a mapping of keys such as 'window.size', found a single value"},
    {"second-document", 2, "a second document begins here; only one is allowed"},
    {"steps-as-list", 2, "solver.steps: expected words with commas between them, found a list"},
    {"steps-unknown", 3,
     "solver.steps: ' z3' is not one of "
     "filter|cone|linearise|eliminate|greedy|saturate|explore|lazy|z3 "
     "(a list is comma-separated, without spaces)"},
    {"tab-indentation", 2,
     "not valid YAML: found character that cannot start any token (while scanning for the next "
     "token, line 2)"},
    {"tag", 1, "tags (!name) are not allowed here; write the plain value"},
    {"timeout-too-large", 2, "solver.timeout_ms: '86400001' is out of range (0 to 86400000 ms)"},
    {"top-is-list", 1, "expected a mapping of keys, such as 'model: value'"},
    {"top-is-scalar", 1, "expected a mapping of keys, such as 'model: value'"},
    {"unclosed-bracket", 2,
     "not valid YAML: did not find expected ',' or '}' (while parsing a flow mapping, line 1)"},
    {"unclosed-quote", 3,
     "not valid YAML: found unexpected end of stream (while scanning a quoted scalar, line 1)"},
    {"unknown-key-control-character", 1, "unknown key 'mod?el?' (did you mean 'model'?)"},
    {"unknown-key-in-section", 2,
     "unknown key 'solver.timeout' (did you mean 'solver.timeout_ms'?)"},
    {"unknown-key-list", 1, "unknown key 'models' (did you mean 'model'?)"},
    {"unknown-key-nothing-near", 1, "unknown key 'flavour'"},
    {"unknown-key-section-forgotten", 1, "unknown key 'overlap' (did you mean 'window.overlap'?)"},
    {"unknown-key-very-long", 1,
     "unknown key 'kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk...'"},
    {"unknown-key", 7, "unknown key 'windw.size' (did you mean 'window.size'?)"},
    {"unknown-section-empty", 1, "unknown key 'windows'"},
    {"zero-byte-in-key", 1, "a key must not contain a zero byte"},
    {"zero-byte-in-value", 1, "output: expected a text, found a zero byte"},
};

static const size_t bad_count = sizeof bad_files / sizeof bad_files[0];

/* Each broken file gives its line, and sets nothing. */
static void test_bad_files(void **state)
{
    (void)state;
    mr_config *config = mr_config_new();
    char *before = yaml_of(config);
    for (size_t i = 0; i < bad_count; i++) {
        char path[256];
        mr_error error = {0};
        snprintf(path, sizeof path, "tests/configs/bad/%s.yaml", bad_files[i].name);
        mr_status status = mr_config_load(config, path, &error);
        if (status != MR_ERR_CONFIG || error.line != bad_files[i].line ||
            strcmp(error.text, bad_files[i].text) != 0)
            fail_msg("%s: status %d, line %" PRIu64 ": %s", path, status, error.line, error.text);
        assert_string_equal(error.file, path);
        assert_int_equal(mr_status_exit(status), 2);
        char *after = yaml_of(config);
        assert_string_equal(before, after);
        free(after);
    }
    free(before);
    mr_config_free(config);
}

/* Every broken file is in the table. */
static void test_bad_files_complete(void **state)
{
    (void)state;
    DIR *folder = opendir("tests/configs/bad");
    assert_non_null(folder);
    size_t files = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        files += strstr(entry->d_name, ".yaml") != NULL;
    closedir(folder);
    assert_int_equal(files, bad_count);
}

typedef struct good {
    const char *yaml, *key, *value; /* value NULL: the default; key NULL: refused */
} good;

static const good good_files[] = {
    {"", "model", NULL},
    {"# nothing\n", "model", NULL},
    {"---\n", "model", NULL},
    {"---\n...\n", "model", NULL},
    {"~", NULL, NULL}, /* not empty, but no mapping: refused */
    {"{}", "model", NULL},
    {"model: rf\n", "model", "rf"},
    {"model: 'rf'\n", "model", "rf"},
    {"model: \"rf\"\r\nrepair: true\r\n", "repair", "true"},
    {"\xef\xbb\xbfmodel: rf\n", "model", "rf"},
    {"%YAML 1.1\n---\nmodel: rf\n", "model", "rf"},
    {"window:\n", "window.size", NULL},
    {"window: {}\n", "window.size", NULL},
    {"window:\n  # size: 1\n", "window.size", NULL},
    {"window: {size: 0, overlap: 7}\n", "window.overlap", "7"},
    {"window.size: 123\n", "window.size", "123"},
    {"window.size: 123\nwindow:\n  overlap: 100\n", "window.size", "123"},
    {"{\"window\": {\"size\": 44}}", "window.size", "44"},
    {"window:\n  size: +12\n", "window.size", "12"},
    {"window:\n  size: 0012\n", "window.size", "12"},
    {"window:\n  size: 4294967293\n", "window.size", "4294967293"},
    {"solver:\n  timeout_ms: 86400000\n", "solver.timeout_ms", "86400000"},
    {"output: out.json\n", "output", "out.json"},
    {"output:\n", "output", ""},
    {"output: ~\n", "output", ""},
    {"output: null\n", "output", ""},
    {"output: 'null'\n", "output", "null"},
    {"output: \"a\\tb\\n\"\n", "output", "a\tb\n"},
    {"output: 12\n", "output", "12"},
    {"output: caf\xc3\xa9\n", "output", "caf\xc3\xa9"},
    {"candidates:\n  ignore_locations: 'a:1,b:2'\n", "candidates.ignore_locations", "a:1,b:2"},
    {"repair: true\n...\n", "repair", "true"},
};

static void test_good_files(void **state)
{
    (void)state;
    mr_scratch scratch;
    mr_config *defaults = mr_config_new();
    mr_scratch_make(&scratch);
    for (size_t i = 0; i < sizeof good_files / sizeof good_files[0]; i++) {
        const good *row = &good_files[i];
        char path[512], buffer[32], again[32];
        mr_error error = {0};
        mr_config *config = mr_config_new();
        mr_scratch_write(&scratch, "good.yaml", row->yaml, path);
        mr_status status = mr_config_load(config, path, &error);
        if ((status == MR_OK) != (row->key != NULL))
            fail_msg("%s: %s", row->yaml, error.text);
        if (row->key != NULL) {
            int index = mr_config_find(row->key);
            assert_true(index >= 0);
            const char *value =
                mr_config_value_text(row->value != NULL ? config : defaults, (size_t)index, buffer);
            if (row->value != NULL)
                assert_string_equal(value, row->value);
            assert_string_equal(mr_config_value_text(config, (size_t)index, again), value);
        }
        mr_config_free(config);
    }
    mr_config_free(defaults);
    mr_scratch_remove(&scratch);
}

/* Files that cannot be read at all are wrong configurations, without a line. */
static void test_unreadable(void **state)
{
    (void)state;
    static const struct {
        const char *path, *text;
    } rows[] = {
        {"tests/configs/none.yaml", "cannot open: No such file or directory"},
        {"tests/configs", "cannot read: Is a directory"},
        {"/dev/zero", "larger than 1 MiB; this cannot be a configuration"},
    };
    mr_config *config = mr_config_new();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mr_error error = {0};
        assert_int_equal(mr_config_load(config, rows[i].path, &error), MR_ERR_CONFIG);
        assert_string_equal(error.text, rows[i].text);
        assert_int_equal(error.line, 0);
        assert_string_equal(error.file, rows[i].path);
    }
    mr_config_free(config);
}

static void test_set(void **state)
{
    (void)state;
    static const struct {
        const char *key, *text, *value; /* value NULL: refused */
    } rows[] = {
        {"model", "rf", "rf"},
        {"model", "r", NULL},
        {"model", "", NULL},
        {"model", "rf|value|branch", NULL},
        {"repair", "true", "true"},
        {"repair", "false", "false"},
        {"repair", "1", NULL},
        {"solver.steps", "z3", "z3"},
        {"solver.steps", "z3,cone", "z3,cone"},
        {"solver.steps", "", NULL},
        {"solver.steps", "z3,", NULL},
        {"solver.steps", ",z3", NULL},
        {"solver.steps", "z3,,cone", NULL},
        {"solver.steps", "z3 cone", NULL},
        {"solver.steps", "far", NULL},
        {"solver.steps", "filter|cone", NULL},
        {"solver.strategy", "eager", "eager"},
        {"window.size", "5", "5"},
        {"window.size", "", NULL},
        {"window.size", "-", NULL},
        {"window.size", " 5", NULL},
        {"window.size", "5 ", NULL},
        {"window.size", "0x10", NULL},
        {"window.size", "-9223372036854775809", NULL},
        {"output", "", ""},
        {"output", "a b", "a b"},
        {"windowsize", "5", NULL},
        {"", "5", NULL},
        {"window", "5", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mr_config *config = mr_config_new();
        mr_error error = {0};
        char buffer[32];
        mr_status status = mr_config_set(config, rows[i].key, rows[i].text, NULL, 0, &error);
        if (rows[i].value == NULL) {
            assert_int_equal(status, MR_ERR_CONFIG);
            assert_int_equal(error.line, 0);
        } else {
            assert_int_equal(status, MR_OK);
            size_t index = (size_t)mr_config_find(rows[i].key);
            assert_string_equal(mr_config_value_text(config, index, buffer), rows[i].value);
        }
        mr_config_free(config);
    }
}

/* Overlap and size, in any combination and from any source. */
static void test_check(void **state)
{
    (void)state;
    static const struct {
        const char *size, *overlap;
        bool fine;
    } rows[] = {
        {"10", "9", true}, {"10", "10", false}, {"10", "11", false}, {"0", "11", true},
        {"1", "0", true},  {"0", "0", true},    {"1", "-1", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mr_config *config = mr_config_new();
        mr_error error = {0};
        mr_config_set(config, "window.size", rows[i].size, NULL, 0, &error);
        mr_config_set(config, "window.overlap", rows[i].overlap, NULL, 0, &error);
        assert_int_equal(mr_config_check(config, &error), rows[i].fine ? MR_OK : MR_ERR_CONFIG);
        assert_string_equal(error.file, "");
        mr_config_free(config);
    }
}

/* -1 is half the window, so that a window of any size may be asked for alone. */
static void test_overlap_by_default(void **state)
{
    (void)state;
    static const struct {
        const char *size, *overlap;
        int64_t in_force;
    } rows[] = {{"10", "-1", 5}, {"1", "-1", 0}, {"0", "-1", 0}, {"7", "-1", 3}, {"10", "2", 2}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mr_config *config = mr_config_new();
        mr_config_set(config, "window.size", rows[i].size, NULL, 0, NULL);
        mr_config_set(config, "window.overlap", rows[i].overlap, NULL, 0, NULL);
        assert_int_equal(mr_config_overlap(config), rows[i].in_force);
        mr_config_resolve(config);
        assert_int_equal(mr_config_int(config, "window.overlap"), rows[i].in_force);
        mr_config_free(config);
    }
}

static void test_check_place(void **state)
{
    (void)state;
    mr_scratch scratch;
    char path[512];
    mr_error error = {0};
    mr_config *config = mr_config_new();
    mr_scratch_make(&scratch);
    mr_scratch_write(&scratch, "w.yaml", "window:\n  overlap: 20\n\n  size: 10\n", path);
    assert_int_equal(mr_config_load(config, path, &error), MR_OK);
    assert_int_equal(mr_config_check(config, &error), MR_ERR_CONFIG);
    assert_int_equal(error.line, 4);
    assert_string_equal(error.file, path);
    assert_string_equal(error.text, "window.overlap (20 events) must be less than window.size (10 "
                                    "events); set window.overlap to at most 9");
    mr_config_free(config);
    mr_scratch_remove(&scratch);
}

/* The table is well-formed: keys are unique, sections stand together, defaults are allowed. */
static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < mr_option_count; i++) {
        const mr_option *option = &mr_options[i];
        char buffer[32];
        mr_config *config = mr_config_new();
        mr_error error = {0};
        assert_int_equal(mr_config_find(option->key), (int)i);
        const char *value = mr_config_value_text(config, i, buffer);
        assert_int_equal(mr_config_set(config, option->key, value, NULL, 0, &error), MR_OK);
        assert_true(strlen(option->help) > 0 && strchr(option->help, '\n') == NULL);
        if (option->type == MR_OPTION_INT)
            assert_true(option->low <= option->default_number &&
                        option->default_number <= option->high && option->unit[0] != '\0');
        mr_config_free(config);
    }
    mr_config *config = mr_config_new();
    assert_int_equal(mr_config_check(config, NULL), MR_OK);
    mr_config_free(config);
}

/* The bits of solver.steps are the steps, all of them by default. */
static void test_steps(void **state)
{
    (void)state;
    mr_config *config = mr_config_new();
    mr_error error = {0};
    assert_int_equal(mr_config_set_of(config, "solver.steps"), MR_ALL_STEPS);
    for (int step = 0; step < MR_STEP_FAR; step++) {
        const char *name = mr_step_name((mr_step)step);
        assert_int_equal(mr_config_set(config, "solver.steps", name, NULL, 0, &error), MR_OK);
        assert_int_equal(mr_config_set_of(config, "solver.steps"), MR_STEP_BIT(step));
    }
    assert_int_equal(mr_config_set(config, "solver.steps", "z3,cone,z3", NULL, 0, &error), MR_OK);
    mr_config *copy = mr_config_clone(config);
    assert_int_equal(mr_config_set(config, "solver.steps", "greedy", NULL, 0, &error), MR_OK);
    assert_int_equal(mr_config_set_of(copy, "solver.steps"),
                     MR_STEP_BIT(MR_STEP_CONE) | MR_STEP_BIT(MR_STEP_Z3));
    mr_config_free(copy);
    mr_config_free(config);
}

/* The enums of config.h number the words of the table. */
static void test_choices(void **state)
{
    (void)state;
    static const struct {
        const char *key, *word;
        int index;
    } rows[] = {
        {"model", "rf", MR_MODEL_RF},
        {"model", "value", MR_MODEL_VALUE},
        {"model", "branch", MR_MODEL_BRANCH},
        {"format", "text", MR_FORMAT_TEXT},
        {"format", "json", MR_FORMAT_JSON},
        {"candidates.prefilter", "all", MR_PREFILTER_ALL},
        {"candidates.prefilter", "wcp", MR_PREFILTER_WCP},
        {"candidates.prefilter", "hb", MR_PREFILTER_HB},
        {"candidates.report", "static", MR_REPORT_STATIC},
        {"candidates.report", "event", MR_REPORT_EVENT},
        {"candidates.far", "none", MR_FAR_NONE},
        {"candidates.far", "shb", MR_FAR_SHB},
        {"candidates.far", "syncp", MR_FAR_SYNCP},
        {"candidates.far", "hb", MR_FAR_HB},
        {"candidates.far", "wcp", MR_FAR_WCP},
        {"candidates.far", "all", MR_FAR_ALL},
    };
    mr_config *config = mr_config_new();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(mr_config_set(config, rows[i].key, rows[i].word, NULL, 0, NULL), MR_OK);
        assert_int_equal(mr_config_choice(config, rows[i].key), rows[i].index);
    }
    mr_config_free(config);
}

/* config.yaml and docs/configuration.md are what the table prints. */
static void test_documents(void **state)
{
    (void)state;
    mr_config *config = mr_config_new();
    char *printed = yaml_of(config), *file = mr_file_text("config.yaml");
    assert_non_null(file);
    assert_string_equal(printed, file);
    free(printed);
    free(file);
    mr_config_free(config);
    size_t length;
    FILE *stream = open_memstream(&printed, &length);
    mr_config_print_markdown(stream);
    fclose(stream);
    file = mr_file_text("docs/configuration.md");
    assert_non_null(file);
    assert_string_equal(printed, file);
    free(printed);
    free(file);
}

/* What is printed reads back as the same configuration. */
static void test_round_trip(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",         "a b",         "# no comment", "quote\" back\\slash",
        "\t\n\x01", "caf\xc3\xa9", "null",         "- x: [1]"};
    mr_scratch scratch;
    char path[512];
    mr_scratch_make(&scratch);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        mr_config *config = mr_config_new(), *again = mr_config_new();
        mr_error error = {0};
        mr_config_set(config, "output", texts[i], NULL, 0, &error);
        mr_config_set(config, "model", "rf", NULL, 0, &error);
        mr_config_set(config, "repair", "true", NULL, 0, &error);
        mr_config_set(config, "window.size", "77", NULL, 0, &error);
        char *text = yaml_of(config);
        mr_scratch_write(&scratch, "round.yaml", text, path);
        if (mr_config_load(again, path, &error) != MR_OK)
            fail_msg("%s", error.text);
        char *text_again = yaml_of(again);
        assert_string_equal(text, text_again);
        assert_string_equal(mr_config_text(again, "output"), texts[i]);
        free(text);
        free(text_again);
        mr_config_free(config);
        mr_config_free(again);
    }
    mr_scratch_remove(&scratch);
}

/* Later files win, key by key. */
static void test_later_wins(void **state)
{
    (void)state;
    mr_scratch scratch;
    char path[512];
    mr_config *config = mr_config_new();
    mr_scratch_make(&scratch);
    mr_scratch_write(&scratch, "a.yaml", "model: rf\nwindow: {size: 1, overlap: 0}\n", path);
    assert_int_equal(mr_config_load(config, path, NULL), MR_OK);
    mr_scratch_write(&scratch, "b.yaml", "window: {size: 2}\n", path);
    assert_int_equal(mr_config_load(config, path, NULL), MR_OK);
    assert_int_equal(mr_config_choice(config, "model"), MR_MODEL_RF);
    assert_int_equal(mr_config_int(config, "window.size"), 2);
    assert_int_equal(mr_config_int(config, "window.overlap"), 0);
    mr_config_free(config);
    mr_scratch_remove(&scratch);
}

static void expect_far_work(mr_config *config, int64_t work)
{
    assert_int_equal(mr_config_int(config, "window.far_work"), work);
}

/* A profile stands in the place of defaults: what its own source or a flag sets wins, in any order. */
static void test_profiles(void **state)
{
    (void)state;
    mr_scratch scratch;
    char path[512], buffer[32];
    mr_config *config = mr_config_new();
    mr_scratch_make(&scratch);
    mr_scratch_write(&scratch, "a.yaml", "window.far_work: 7\nprofile: quick\n", path);
    assert_int_equal(mr_config_load(config, path, NULL), MR_OK);
    expect_far_work(config, 7);
    assert_int_equal(mr_config_choice(config, "candidates.far"), MR_FAR_SYNCP);
    assert_string_equal(
        mr_config_value_text(config, (size_t)mr_config_find("solver.steps"), buffer),
        "filter,cone,linearise,eliminate,greedy,saturate,explore");
    assert_int_equal(mr_config_set_of(config, "solver.steps"), 127);
    assert_int_equal(mr_config_set(config, "candidates.far", "wcp", NULL, 0, NULL), MR_OK);
    assert_int_equal(mr_config_choice(config, "candidates.far"), MR_FAR_WCP);
    assert_int_equal(mr_config_set(config, "profile", "thorough", NULL, 0, NULL), MR_OK);
    expect_far_work(config, 10000000000);
    assert_int_equal(mr_config_choice(config, "candidates.far"), MR_FAR_WCP);
    mr_config *copy = mr_config_clone(config);
    expect_far_work(copy, 10000000000);
    assert_int_equal(mr_config_set(config, "profile", "default", NULL, 0, NULL), MR_OK);
    expect_far_work(config, 7);
    assert_int_equal(mr_config_set_of(config, "solver.steps"), 511);
    mr_config_free(copy);
    mr_config_free(config);
    mr_scratch_remove(&scratch);
}

/* Options that change no result: those and no other. */
static void test_run_only(void **state)
{
    (void)state;
    static const char expected[] = " output jobs checkpoint resume time_limit quiet color "
                                   "witness.dir report.run memory.limit_mb"
                                   " memory.spill_dir ";
    size_t count = 0;
    for (size_t i = 0; i < mr_option_count; i++) {
        char word[64];
        snprintf(word, sizeof word, " %s ", mr_options[i].key);
        assert_int_equal(mr_config_is_run_only(i), strstr(expected, word) != NULL);
        count += mr_config_is_run_only(i);
    }
    assert_int_equal(count, 11);
}

/* Whichever allocation fails, the error says so and nothing is set. */
static void test_no_memory(void **state)
{
    (void)state;
    mr_config *config = mr_config_new();
    mr_status status = MR_ERR_MEMORY;
    int64_t before = mr_config_int(config, "window.size");
    for (uint64_t n = 1; status != MR_OK; n++) {
        mr_error error = {0};
        assert_true(n < 100);
        assert_int_equal(mr_config_int(config, "window.size"), before);
        mr_memory_fail_after(n);
        status = mr_config_load(config, "tests/configs/good.yaml", &error);
        mr_memory_fail_after(0);
        assert_true(status == MR_OK || status == MR_ERR_MEMORY);
        assert_int_equal(error.status, status);
    }
    assert_int_equal(mr_config_int(config, "window.size"), 20000);
    assert_string_equal(mr_config_text(config, "output"), "report.txt");
    mr_config_free(config);
    mr_memory_fail_after(1);
    assert_null(mr_config_new());
    mr_memory_fail_after(2);
    assert_null(mr_config_new());
    mr_memory_fail_after(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_files),   cmocka_unit_test(test_bad_files_complete),
        cmocka_unit_test(test_good_files),  cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_set),         cmocka_unit_test(test_steps),
        cmocka_unit_test(test_check),       cmocka_unit_test(test_overlap_by_default),
        cmocka_unit_test(test_check_place), cmocka_unit_test(test_table),
        cmocka_unit_test(test_choices),     cmocka_unit_test(test_documents),
        cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_later_wins),
        cmocka_unit_test(test_profiles),    cmocka_unit_test(test_run_only),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
