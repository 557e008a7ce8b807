/* help: what commands and flags do, from their tables: as text, as manual pages, and as completions of shells. */
#include "cli.h"
#include "config/suggest.h"
#include "shells.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The flags of every day; the others are shown with --all. */
static const char everyday[] =
    " model profile find format output jobs quiet brief source_dir suppressions baseline fail_on "
    "relation"
    " confirm relations record.exclude window.size solver.timeout_ms witness.dir checkpoint resume"
    " time_limit report.schedule report.shown ";
enum { SHORT_ENOUGH = 12 }; /* so many flags are all shown */

/* How many columns the text takes: UTF-8 has one byte a character that continues no other. */
static int columns_of(const char *text)
{
    int count = 0;
    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80;
    return count;
}

static void print_overview(void)
{
    puts("maxrace: predicts the data races of a recorded execution and proves each one\n\n"
         "usage: maxrace COMMAND [FLAGS] …\n");
    enum { COLUMN = 21 };
    for (size_t i = 0; i < mr_command_count; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s %s", mr_commands[i].name, mr_commands[i].operands);
        int room = COLUMN - columns_of(left);
        if (room >= 0)
            printf("  %s%*s %s\n", left, room, "", mr_commands[i].summary);
        else
            printf("  %s\n%*s%s\n", left, COLUMN + 3, "", mr_commands[i].summary);
    }
    puts("\n'maxrace help COMMAND' names the flags of a command.");
}

static void print_debug_flag(void)
{
    puts("  --debug TOPIC,…\n      what modules decide, on standard error, a line each; topics, or "
         "all:");
    for (int topic = 0; topic < MR_DEBUG_COUNT; topic++)
        printf("      %-11s %s\n", mr_debug_topic_name((mr_debug_topic)topic),
               mr_debug_topic_tells((mr_debug_topic)topic));
}

static bool is_everyday(size_t option)
{
    char word[64];
    snprintf(word, sizeof word, " %s ", mr_options[option].key);
    return strstr(everyday, word) != NULL;
}

/* The flags that are keys of the configuration. Returns how many are left out. */
static size_t print_keys(const mr_command *command, bool all)
{
    size_t count = 0, hidden = 0;
    for (size_t i = 0; i < mr_option_count; i++)
        count += mr_command_has(command, i);
    for (size_t i = 0; i < mr_option_count; i++) {
        if (!mr_command_has(command, i))
            continue;
        if (all || count <= SHORT_ENOUGH || is_everyday(i))
            mr_config_print_flag(stdout, i);
        else
            hidden++;
    }
    return hidden;
}

void mr_cli_help(const mr_command *command, bool all)
{
    if (command == NULL) {
        print_overview();
        return;
    }
    bool flags = command->keys[0] != '\0';
    printf("usage: maxrace %s%s%s%s\n\n%s\n", command->name, flags ? " [FLAGS]" : "",
           command->operands[0] != '\0' ? " " : "", command->operands, command->summary);
    if (command->details[0] != '\0')
        printf("\n%s", command->details);
    puts("\nFlags:");
    if (command->takes_config)
        puts("  -c, --config FILE\n      read settings from a YAML file; flags win over it");
    if (command->switch_name != NULL)
        printf("  --%s\n      %s\n", command->switch_name, command->switch_help);
    for (int i = 0; i < MR_OWN_FLAGS && command->own[i].name != NULL; i++)
        printf("  --%s%s%s\n      %s\n", command->own[i].name,
               command->own[i].value[0] != '\0' ? " " : "", command->own[i].value,
               command->own[i].help);
    if (command->debugs && all)
        print_debug_flag();
    puts("  -h, --help\n      print this");
    size_t hidden = print_keys(command, all) + (command->debugs && !all);
    if (flags)
        puts("\nA flag is --flag VALUE or --flag=VALUE; a flag that is true or false is --flag,\n"
             "--flag=false or --no-flag.");
    if (hidden > 0)
        printf("%zu more flag%s: maxrace help --all %s\n", hidden, hidden == 1 ? "" : "s",
               command->name);
}

/* ---- manual pages ---- */

/* A character of two or three bytes as troff wants it, "\\[u2026]". Returns how many bytes it has. */
static size_t print_wide(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    bool three = at[0] >= 0xe0;
    unsigned code = three ? (at[0] & 0x0fu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu)
                          : (at[0] & 0x1fu) << 6 | (at[1] & 0x3fu);
    printf("\\[u%04X]", code);
    return three ? 3 : 2;
}

/* Text of a manual page: what troff would take for a request or an escape is made plain. */
static void print_troff(const char *text)
{
    bool start = true;
    for (; *text != '\0'; text++) {
        if (start && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        start = *text == '\n';
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else if ((unsigned char)*text >= 0x80)
            text += print_wide(text) - 1;
        else
            putchar(*text);
    }
}

static void print_entry(const char *flag, const char *value, const char *help)
{
    fputs(".TP\n\\fB", stdout);
    print_troff(flag);
    fputs("\\fR", stdout);
    if (value[0] != '\0') {
        fputs(" \\fI", stdout);
        print_troff(value);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    print_troff(help);
    putchar('\n');
}

static void print_man_flags(const mr_command *command)
{
    char flag[80];
    puts(".SH OPTIONS");
    if (command->takes_config)
        print_entry("-c, --config", "FILE", "read settings from a YAML file; flags win over it");
    if (command->switch_name != NULL) {
        snprintf(flag, sizeof flag, "--%s", command->switch_name);
        print_entry(flag, "", command->switch_help);
    }
    for (int i = 0; i < MR_OWN_FLAGS && command->own[i].name != NULL; i++) {
        snprintf(flag, sizeof flag, "--%s", command->own[i].name);
        print_entry(flag, command->own[i].value, command->own[i].help);
    }
    if (command->debugs)
        print_entry("--debug", "TOPIC,...", "what modules decide, on standard error, a line each");
    for (size_t i = 0; i < mr_option_count; i++) {
        if (!mr_command_has(command, i))
            continue;
        mr_config_flag(i, flag, sizeof flag);
        print_entry(flag, mr_config_value_name(i), mr_options[i].help);
    }
}

static void print_man(const mr_command *command)
{
    const char *name = command != NULL ? command->name : "";
    printf(".TH MAXRACE%s", command != NULL ? "\\-" : "");
    for (const char *at = name; *at != '\0'; at++)
        putchar(toupper((unsigned char)*at));
    printf(" 1 \"\" \"maxrace " MR_VERSION "\"\n.SH NAME\nmaxrace%s%s \\- ",
           command != NULL ? "\\-" : "", name);
    print_troff(command != NULL
                    ? command->summary
                    : "predicts the data races of a recorded execution and proves each one");
    printf("\n.SH SYNOPSIS\n.B maxrace %s\n[FLAGS] ", command != NULL ? name : "COMMAND");
    print_troff(command != NULL ? command->operands : "...");
    putchar('\n');
    if (command == NULL) {
        puts(".SH COMMANDS");
        for (size_t i = 0; i < mr_command_count; i++)
            print_entry(mr_commands[i].name, mr_commands[i].operands, mr_commands[i].summary);
        puts(".PP\nEach has a manual page of its own: \\fBmaxrace\\-predict\\fR(1).");
        return;
    }
    if (command->details[0] != '\0') {
        puts(".SH DESCRIPTION\n.nf");
        print_troff(command->details);
        puts(".fi");
    }
    print_man_flags(command);
    puts(".SH SEE ALSO\n\\fBmaxrace\\fR(1)");
}

/* ---- the command ---- */

static mr_status print_as(const char *what, const mr_command *command, mr_error *error)
{
    char quoted[MR_QUOTED_BYTES];
    if (strcmp(what, "man") == 0) {
        print_man(command);
        return MR_OK;
    }
    if (mr_shell_complete(what))
        return MR_OK;
    return mr_error_set(error, MR_ERR_USAGE, NULL, 0, "--as: %s is not one of man|bash|zsh|fish",
                        mr_quote(what, quoted));
}

mr_status mr_cli_help_command(mr_cli *cli, int *exit_status, mr_error *error)
{
    const mr_command *command = NULL;
    char quoted[MR_QUOTED_BYTES];
    *exit_status = 0;
    if (cli->operand_count > 0) {
        command = mr_command_find(cli->operands[0]);
        if (command == NULL)
            return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                                "unknown command %s; 'maxrace help' names them all",
                                mr_quote(cli->operands[0], quoted));
    }
    if (cli->own[0] != NULL)
        return print_as(cli->own[0], command, error);
    mr_cli_help(command, cli->switch_on);
    return MR_OK;
}
