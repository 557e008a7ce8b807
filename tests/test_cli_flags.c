/* Flags, configuration files and help of the command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config/config.h"
#include "support/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mr_scratch scratch;

static int setup(void **state)
{
    char path[512];
    mr_scratch_setup(state, &scratch);
    mr_scratch_write(&scratch, "rf.yaml", "model: rf\nwindow:\n  size: 77\n  overlap: 7\n", path);
    return 0;
}

/* Runs `config` and looks for a line in it. */
static void expect_config(const char *arguments, const char *line)
{
    mr_run run;
    mr_run_maxrace(&run, &scratch, arguments, NULL, MR_RUN_CAPTURE);
    if (run.status != 0 || strstr(run.out, line) == NULL)
        fail_msg("%s: status %d, no '%s'\n%s", arguments, run.status, line, run.error);
    mr_run_free(&run);
}

static void test_flags_win(void **state)
{
    (void)state;
    static const struct {
        const char *arguments, *line;
    } rows[] = {
        {"config", "\nmodel: value\n"},
        {"config -c @/rf.yaml", "\nmodel: rf\n"},
        {"config -c @/rf.yaml", "\n  size: 77\n"},
        {"config --model value -c @/rf.yaml", "\nmodel: value\n"},
        {"config -c @/rf.yaml --model value", "\nmodel: value\n"},
        {"config --window-size=8 --config @/rf.yaml", "\n  size: 8\n"},
        {"config -c @/rf.yaml -c tests/configs/good.yaml", "\n  size: 20000\n"},
        {"config --model rf --model value", "\nmodel: value\n"},
        {"config --repair", "\nrepair: true\n"},
        {"config --repair --no-repair", "\nrepair: false\n"},
        {"config --repair=true", "\nrepair: true\n"},
        {"config --no-witness-minimise", "\n  minimise: false\n"},
        {"config -ofile", "\noutput: \"file\"\n"},
        {"config -o file", "\noutput: \"file\"\n"},
        {"config --output=a=b", "\noutput: \"a=b\"\n"},
        {"config --output --repair", "\noutput: \"--repair\"\n"},
        {"config --candidates-ignore-locations 1,2", "\n  ignore_locations: \"1,2\"\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_config(rows[i].arguments, rows[i].line);
}

/* Every option is a flag that takes its own default. */
static void test_every_flag(void **state)
{
    (void)state;
    mr_config *config = mr_config_new();
    for (size_t i = 0; i < mr_option_count; i++) {
        char flag[64], arguments[200], buffer[32];
        mr_run run;
        mr_config_flag(i, flag, sizeof flag);
        snprintf(arguments, sizeof arguments, "config %s=%s", flag,
                 mr_config_value_text(config, i, buffer));
        mr_run_maxrace(&run, &scratch, arguments, NULL, MR_RUN_CAPTURE);
        assert_int_equal(run.status, 0);
        char *file = mr_file_text("config.yaml");
        assert_string_equal(run.out, file);
        free(file);
        mr_run_free(&run);
    }
    mr_config_free(config);
}

static void test_help(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"help", 0, "usage: maxrace COMMAND", NULL},
        {"--help", 0, "usage: maxrace COMMAND", NULL},
        {"-h", 0, "usage: maxrace COMMAND", NULL},
        {"help predict", 0, "usage: maxrace predict [FLAGS] TRACE", NULL},
        {"predict --help", 0, "usage: maxrace predict [FLAGS] TRACE", NULL},
        {"predict -h", 0, "--window-size N\n", NULL},
        {"help predict", 0, "more flags: maxrace help --all predict\n", NULL},
        {"help --all predict", 0, "--solver-max-clauses N\n", NULL},
        {"help --as man", 0, ".SH COMMANDS\n", NULL},
        {"help --as man predict", 0, ".TP\n\\fB\\-\\-window\\-size\\fR \\fIN\\fR\n", NULL},
        {"help --as bash", 0, "complete -o filenames -F _maxrace maxrace\n", NULL},
        {"help --as zsh", 0, "#compdef maxrace\n", NULL},
        {"help --as fish", 0, "-l model -d ", NULL},
        {"help --as html", 2, NULL, "maxrace: --as: 'html' is not one of man|bash|zsh|fish\n"},
        {"check --help", 0, "--schedule\n", NULL},
        {"info --help", 0, "--[no-]repair\n", NULL},
        {"config --help", 0, "--markdown\n", NULL},
        {"help version", 0, "usage: maxrace version\n", NULL},
        {"version", 0, "maxrace " MR_VERSION "\n", NULL},
        {"--version", 0, "maxrace " MR_VERSION "\n", NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
}

/* All flags of the table are in the help; the manual page is what `config --markdown` prints. */
static void test_help_complete(void **state)
{
    (void)state;
    mr_run run, order, compare, runs;
    mr_run_maxrace(&run, &scratch, "help --all predict", NULL, MR_RUN_CAPTURE);
    mr_run_maxrace(&order, &scratch, "help --all order", NULL, MR_RUN_CAPTURE);
    mr_run_maxrace(&compare, &scratch, "help --all compare", NULL, MR_RUN_CAPTURE);
    mr_run_maxrace(&runs, &scratch, "help --all run", NULL, MR_RUN_CAPTURE);
    for (size_t i = 0; i < mr_option_count; i++)
        assert_true(strstr(run.out, mr_options[i].help) || strstr(order.out, mr_options[i].help) ||
                    strstr(compare.out, mr_options[i].help) ||
                    strstr(runs.out, mr_options[i].help));
    assert_non_null(strstr(compare.out, "--relations NAMES"));
    assert_null(strstr(run.out, "--relation"));
    assert_null(strstr(order.out, "--window-overlap"));
    mr_run_free(&runs);
    mr_run_free(&compare);
    mr_run_free(&order);
    mr_run_free(&run);
    mr_run_maxrace(&run, &scratch, "config --markdown", NULL, MR_RUN_CAPTURE);
    char *file = mr_file_text("docs/configuration.md");
    assert_string_equal(run.out, file);
    free(file);
    mr_run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flags_win),
        cmocka_unit_test(test_every_flag),
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_help_complete),
    };
    return cmocka_run_group_tests(tests, setup, mr_scratch_teardown);
}
