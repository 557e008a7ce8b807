/* The table of formats in docs/report-format.md says what is so: each cell is tried on a shipped example.
 * Where it says yes, the command prints that format; where it says no, it ends with status 2 and one line.
 * Commands that run a program get one that is not there: a format that they have lets them come so far. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config/config.h"
#include "support/run.h"
#include "support/schema.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mr_scratch scratch;

static int setup(void **state)
{
    static const char *const prepared[] = {
        "predict --shard 1/1 --checkpoint @/shard examples/bank.std",
        "predict --format json -o @/results.json examples/bank.std",
    };
    mr_scratch_setup(state, &scratch);
    for (size_t i = 0; i < sizeof prepared / sizeof prepared[0]; i++) {
        mr_run run;
        mr_run_maxrace(&run, &scratch, prepared[i], NULL, MR_RUN_CAPTURE);
        assert_true(run.status == 0 || run.status == 1);
        mr_run_free(&run);
    }
    return 0;
}

/* ---- commands ---- */

static const struct {
    const char *name;      /* as the head of the table has it */
    const char *arguments; /* %: the format */
    int status;            /* where it has the format */
    const char *complaint; /* a part of its line then; NULL: it prints a report */
} commands[] = {
    {"predict", "predict --format % examples/bank.std", 1, NULL},
    {"merge", "merge --format % examples/bank.std @/shard", 1, NULL},
    {"report", "report --format % @/results.json", 1, NULL},
    {"order", "order --relation wcp --format % examples/bank.std", 1, NULL},
    {"compare", "compare --format % examples/bank.std", 1, NULL},
    {"run", "run --format % @/none", 4, "/none: cannot run: "},
    {"run --quick", "run --quick --format % @/none", 4, "/none: cannot run: "},
    {"hunt", "hunt --dir @/none/hunt --format % @/none", 4, "/none/hunt: cannot make the folder: "},
    {"replay", "replay --format % examples/bank.std", 3, " lacks the positions of its events"},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* ---- formats ---- */

static bool begins(const char *text, const char *head)
{
    return strncmp(text, head, strlen(head)) == 0;
}

static bool ends(const char *text, const char *tail)
{
    size_t length = strlen(text), want = strlen(tail);
    return length >= want && strcmp(text + length - want, tail) == 0;
}

static bool is_text(const char *text)
{
    return isalnum((unsigned char)text[0]) && ends(text, "\n") && strstr(text, "bank") != NULL;
}

/* An object with the member. mr_schema_parse fails the test when it is no JSON. */
static bool is_object(const char *text, const char *member)
{
    json_t *value = mr_schema_parse(text);
    bool fits = json_object_get(value, member) != NULL;
    json_decref(value);
    return fits;
}

static bool is_json(const char *text)
{
    return is_object(text, "tool");
}

static bool is_sarif(const char *text)
{
    return is_object(text, "runs") && strstr(text, "\"version\":\"2.1.0\"") != NULL;
}

static bool is_perfetto(const char *text)
{
    return is_object(text, "traceEvents");
}

/* Elements are closed in the order in which they were opened; a text has no '<'. */
static bool is_junit(const char *text)
{
    const char *open[16];
    size_t depth = 0;
    if (!begins(text, "<?xml ") || !ends(text, "</testsuites>\n"))
        return false;
    for (const char *at = strchr(text + 1, '<'); at != NULL; at = strchr(at + 1, '<')) {
        const char *end = strchr(at, '>');
        if (end == NULL || depth == 16)
            return false;
        if (at[1] != '/') {
            open[depth] = at + 1;
            depth += end[-1] != '/';
        } else if (depth-- == 0 || strncmp(open[depth], at + 2, (size_t)(end - at - 2)) != 0) {
            return false;
        }
    }
    return depth == 0;
}

/* Every line has as many fields as the first one. */
static bool is_csv(const char *text)
{
    int fields = 1, first = 0;
    bool quoted = false;
    for (; *text != '\0'; text++) {
        quoted ^= *text == '"';
        fields += !quoted && *text == ',';
        if (quoted || *text != '\n')
            continue;
        if (first != 0 && fields != first)
            return false;
        first = fields;
        fields = 1;
    }
    return !quoted && first > 1;
}

static bool is_markdown(const char *text)
{
    return begins(text, "| ") && strstr(text, "|\n|---|") != NULL;
}

static bool is_dot(const char *text)
{
    int depth = 0;
    for (const char *at = text; *at != '\0' && depth >= 0; at++)
        depth += (*at == '{') - (*at == '}');
    return begins(text, "digraph ") && ends(text, "}\n") && depth == 0;
}

static bool is_html(const char *text)
{
    return begins(text, "<!DOCTYPE html>") && ends(text, "</html>\n") &&
           strstr(text, "bank.std") != NULL;
}

static const struct {
    const char *word;
    bool (*fits)(const char *text);
} formats[MR_FORMAT_COUNT] = {
    {"text", is_text},         {"json", is_json},   {"csv", is_csv},
    {"markdown", is_markdown}, {"sarif", is_sarif}, {"junit", is_junit},
    {"perfetto", is_perfetto}, {"dot", is_dot},     {"html", is_html},
};

/* ---- the table ---- */

/* Takes the next cell of a line "| a | b |", without blanks; NULL: there is none. */
static const char *next_cell(const char **at, char cell[128])
{
    const char *end = strchr(*at, '|');
    if (end == NULL)
        return NULL;
    while (**at == ' ')
        (*at)++;
    size_t length = (size_t)(end - *at);
    while (length > 0 && (*at)[length - 1] == ' ')
        length--;
    assert_true(length < 128);
    memcpy(cell, *at, length);
    cell[length] = '\0';
    *at = end + 1;
    return cell;
}

/* Counts the line of `error`. */
static bool is_one_line(const char *error)
{
    const char *end = strchr(error, '\n');
    return end != NULL && end > error && end[1] == '\0';
}

/* The arguments with the word for '%'. */
static void expand(const char *text, const char *word, char arguments[256])
{
    const char *at = strchr(text, '%');
    assert_non_null(at);
    snprintf(arguments, 256, "%.*s%s%s", (int)(at - text), text, word, at + 1);
}

static void try_cell(size_t command, size_t format, bool has)
{
    char arguments[256];
    mr_run run;
    expand(commands[command].arguments, formats[format].word, arguments);
    mr_run_maxrace(&run, &scratch, arguments, NULL, MR_RUN_CAPTURE);
    const char *complaint = commands[command].complaint;
    bool right = run.status == (has ? commands[command].status : 2);
    if (!has)
        right = right && run.out[0] == '\0' && is_one_line(run.error);
    else if (complaint != NULL)
        right = right && is_one_line(run.error) && strstr(run.error, complaint) != NULL;
    else
        right = right && run.error[0] == '\0' && formats[format].fits(run.out);
    if (!right)
        fail_msg("'%s': the page says %s; status %d, error '%s', output:\n%s", arguments,
                 has ? "yes" : "no", run.status, run.error, run.out);
    mr_run_free(&run);
}

/* Tries the command of each `word` in the head of a column. */
static unsigned try_column(const char *head, size_t format, bool has)
{
    unsigned tried = 0;
    char word[128];
    for (const char *at = strchr(head, '`'); at != NULL; at = strchr(at + 1, '`')) {
        const char *end = strchr(++at, '`');
        assert_non_null(end);
        snprintf(word, sizeof word, "%.*s", (int)(end - at), at);
        for (size_t i = 0; i < COMMANDS; i++)
            if (strcmp(commands[i].name, word) == 0) {
                try_cell(i, format, has);
                tried++;
            }
        at = end;
    }
    return tried;
}

static void try_row(const char *head, const char *row, size_t format)
{
    char column[128], cell[128];
    unsigned tried = 0;
    assert_non_null(next_cell(&head, column));
    snprintf(column, sizeof column, "`%s`", formats[format].word);
    assert_string_equal(next_cell(&row, cell), column);
    while (next_cell(&row, cell) != NULL) {
        assert_non_null(next_cell(&head, column));
        assert_true(strcmp(cell, "yes") == 0 || strcmp(cell, "no") == 0);
        tried += try_column(column, format, strcmp(cell, "yes") == 0);
    }
    assert_int_equal(tried, COMMANDS);
}

static void test_cells(void **state)
{
    static const char head_begin[] = "| `--format` | `predict`";
    (void)state;
    char *page = mr_file_text("docs/report-format.md"), *rest;
    assert_non_null(page);
    char *table = strstr(page, head_begin);
    assert_non_null(table);
    const char *head = strtok_r(table, "\n", &rest);
    assert_true(begins(strtok_r(NULL, "\n", &rest), "|---|"));
    for (size_t format = 0; format < MR_FORMAT_COUNT; format++)
        try_row(head + 1, strtok_r(NULL, "\n", &rest) + 1, format);
    assert_int_not_equal(strtok_r(NULL, "\n", &rest)[0], '|');
    free(page);
}

/* What is no report of a format does not pass for one. */
static void test_checks(void **state)
{
    (void)state;
    assert_false(is_text("{\"bank\":1}\n"));
    assert_false(is_json("{\"runs\":[]}"));
    assert_false(is_junit("<?xml ?>\n<testsuites><a></testsuites>\n"));
    assert_true(is_junit("<?xml ?>\n<testsuites><a/><b></b></testsuites>\n"));
    assert_false(is_csv("a,b\n1\n"));
    assert_true(is_csv("a,b\n\"1,2\",3\n"));
    assert_false(is_markdown("| a |\n| b |\n"));
    assert_false(is_dot("digraph \"a\" {\n{\n}\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_checks),
    };
    return cmocka_run_group_tests(tests, setup, mr_scratch_teardown);
}
