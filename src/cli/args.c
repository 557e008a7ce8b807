/*
 * args: flags and operands. Flags are collected first and applied after the configuration files, so
 * that they win wherever they stand.
 */
#include "base/memory.h"
#include "cli.h"
#include "config/suggest.h"
#include "tsan_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct setting {
    int option; /* index, or -1 for a configuration file */
    const char *text;
} setting;

typedef struct parser {
    mr_cli *cli;
    char **arguments;
    int count, next;
    setting *settings; /* at most one an argument */
    size_t setting_count;
    mr_error *error;
} parser;

static mr_status usage_error(const parser *self, const char *before, const char *word,
                             const char *after)
{
    char quoted[MR_QUOTED_BYTES];
    return mr_error_set(self->error, MR_ERR_USAGE, NULL, 0, "%s%s%s", before,
                        mr_quote(word, quoted), after);
}

static void add_setting(parser *self, int option, const char *text)
{
    self->settings[self->setting_count++] = (setting){option, text};
}

/* The option whose flag is `name` (with its dashes), or -1. */
static int find_flag(const char *name)
{
    char flag[64];
    for (size_t i = 0; i < mr_option_count; i++) {
        mr_config_flag(i, flag, sizeof flag);
        if (strcmp(flag, name) == 0)
            return (int)i;
    }
    return -1;
}

/* The option of the section `report` that `name` means without its section (--schedule for
 * --report-schedule), or -1. */
static int find_report_flag(const mr_command *command, const char *name)
{
    char flag[128];
    if (strlen(name) > 96)
        return -1;
    snprintf(flag, sizeof flag, "--report-%s", name + 2);
    int option = find_flag(flag);
    return option >= 0 && mr_command_has(command, (size_t)option) ? option : -1;
}

/* Is `name` "--no-FLAG" of a boolean? Gives its option, or -1. */
static int find_negation(const char *name)
{
    char flag[128];
    if (strncmp(name, "--no-", 5) != 0 || strlen(name) > 96)
        return -1;
    snprintf(flag, sizeof flag, "--%s", name + 5);
    int option = find_flag(flag);
    return option >= 0 && mr_options[option].type == MR_OPTION_BOOL ? option : -1;
}

/* The command's own flag `name` (with its dashes), or -1. */
static int find_own(const mr_command *command, const char *name)
{
    for (int i = 0; i < MR_OWN_FLAGS && command->own[i].name != NULL; i++)
        if (strcmp(name + 2, command->own[i].name) == 0)
            return i;
    return -1;
}

/* Keeps `candidate` when it is nearer to `name` than `best` so far. */
static void consider(const char *name, const char *candidate, size_t *distance, char best[64])
{
    size_t now = mr_edit_distance(name, candidate);
    if (now >= *distance)
        return;
    *distance = now;
    snprintf(best, 64, "%s", candidate);
}

/* The flag that may have been meant by `name`; "" when none is near. */
static void suggest_flag(const mr_command *command, const char *name, char best[64])
{
    char flag[64];
    size_t distance = mr_suggest_limit(name) + 1;
    best[0] = '\0';
    consider(name, "--help", &distance, best);
    if (command->takes_config)
        consider(name, "--config", &distance, best);
    if (command->debugs)
        consider(name, "--debug", &distance, best);
    if (command->switch_name != NULL) {
        snprintf(flag, sizeof flag, "--%s", command->switch_name);
        consider(name, flag, &distance, best);
    }
    for (int i = 0; i < MR_OWN_FLAGS && command->own[i].name != NULL; i++) {
        snprintf(flag, sizeof flag, "--%s", command->own[i].name);
        consider(name, flag, &distance, best);
    }
    for (size_t i = 0; i < mr_option_count; i++) {
        if (!mr_command_has(command, i))
            continue;
        mr_config_flag(i, flag, sizeof flag);
        consider(name, flag, &distance, best);
        if (mr_options[i].type == MR_OPTION_BOOL) {
            char negated[64];
            snprintf(negated, sizeof negated, "--no-%.58s", flag + 2);
            consider(name, negated, &distance, best);
        }
    }
    /* A flag without its section, such as --timeout-ms. */
    int option = best[0] == '\0' ? mr_config_suggest(name + strspn(name, "-")) : -1;
    if (option >= 0 && mr_command_has(command, (size_t)option))
        mr_config_flag((size_t)option, best, 64);
}

static mr_status unknown_flag(const parser *self, const char *name)
{
    char best[64], after[96] = "";
    suggest_flag(self->cli->command, name, best);
    if (best[0] != '\0')
        snprintf(after, sizeof after, " (did you mean '%s'?)", best);
    return usage_error(self, "unknown flag ", name, after);
}

static mr_status foreign_flag(const parser *self, const char *name)
{
    char after[96];
    snprintf(after, sizeof after, " is not a flag of '%s'", self->cli->command->name);
    return usage_error(self, "", name, after);
}

/* Takes the value of a flag: the text after '=', or the next argument. */
static mr_status take_value(parser *self, const char *name, const char *attached,
                            const char **value)
{
    *value = attached;
    if (attached == NULL && self->next == self->count)
        return usage_error(self, "", name, " needs a value");
    if (attached == NULL)
        *value = self->arguments[self->next++];
    return MR_OK;
}

static mr_status take_own(parser *self, int flag, const char *name, const char *attached)
{
    if (self->cli->command->own[flag].value[0] == '\0') {
        self->cli->own[flag] = "";
        return attached ? usage_error(self, "", name, " takes no value") : MR_OK;
    }
    mr_status status = take_value(self, name, attached, &self->cli->own[flag]);
    if (status == MR_OK && strchr(self->cli->command->own[flag].value, ' '))
        status = take_value(self, name, NULL, &self->cli->own_second[flag]);
    return status;
}

static void print_debug_line(void *context, const char *line)
{
    (void)context;
    fprintf(stderr, "%s\n", line);
}

static mr_status set_debug(parser *self, const char *name, const char *attached)
{
    const char *list;
    mr_status status = take_value(self, name, attached, &list);
    self->cli->debug.write = print_debug_line;
    return status == MR_OK ? mr_debug_parse(list, &self->cli->debug.topics, self->error) : status;
}

/* Takes the second word of a value. */
static mr_status join_values(parser *self, const char *name, const char **value)
{
    const char *second;
    char *joined = self->cli->joined;
    mr_status status = take_value(self, name, NULL, &second);
    if (status != MR_OK)
        return status;
    int length = snprintf(joined, sizeof self->cli->joined, "%s %s", *value, second);
    if (length < 0 || (size_t)length >= sizeof self->cli->joined)
        return usage_error(self, "", name, ": the value is too long");
    *value = joined;
    return MR_OK;
}

static mr_status set_option(parser *self, int option, const char *name, const char *attached)
{
    const char *value = attached;
    if (!mr_command_has(self->cli->command, (size_t)option))
        return foreign_flag(self, name);
    if (mr_options[option].type == MR_OPTION_BOOL) {
        if (attached == NULL)
            value = "true";
    } else {
        mr_status status = take_value(self, name, attached, &value);
        if (status == MR_OK && attached == NULL && strchr(mr_options[option].unit, ' '))
            status = join_values(self, name, &value);
        if (status != MR_OK)
            return status;
    }
    if (strcmp(mr_options[option].key, "model") == 0)
        self->cli->model_given = true;
    if (strcmp(mr_options[option].key, "format") == 0)
        self->cli->format_given = true;
    add_setting(self, option, value);
    return MR_OK;
}

static mr_status set_config_file(parser *self, const char *name, const char *attached)
{
    const char *value;
    if (!self->cli->command->takes_config)
        return foreign_flag(self, name);
    mr_status status = take_value(self, name, attached, &value);
    if (status == MR_OK)
        add_setting(self, -1, value);
    return status;
}

/* "--name" or "--name=value". */
static mr_status parse_long(parser *self, const char *argument)
{
    const mr_command *command = self->cli->command;
    const char *equals = strchr(argument, '=');
    const char *attached = equals != NULL ? equals + 1 : NULL;
    size_t length = equals != NULL ? (size_t)(equals - argument) : strlen(argument);
    char name[96];
    snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : 95, argument);
    int option = find_flag(name), negated = find_negation(name);
    int own_flag = find_own(command, name);
    if (option >= 0 && (own_flag < 0 || mr_command_has(command, (size_t)option)))
        return set_option(self, option, name, attached);
    if (strcmp(name, "--config") == 0)
        return set_config_file(self, name, attached);
    if (own_flag >= 0)
        return take_own(self, own_flag, name, attached);
    if (command->debugs && strcmp(name, "--debug") == 0)
        return set_debug(self, name, attached);
    bool own = command->switch_name != NULL && strcmp(name + 2, command->switch_name) == 0;
    bool help = strcmp(name, "--help") == 0;
    if (negated < 0 && !own && !help) {
        option = find_report_flag(command, name);
        return option >= 0 ? set_option(self, option, name, attached) : unknown_flag(self, name);
    }
    if (attached != NULL)
        return usage_error(self, "", name, " takes no value");
    if (negated >= 0)
        return set_option(self, negated, name, "false");
    self->cli->switch_on = self->cli->switch_on || own;
    self->cli->help = self->cli->help || help;
    return MR_OK;
}

/* "-o FILE" or "-oFILE". */
static mr_status parse_short(parser *self, const char *argument)
{
    char name[3] = {'-', argument[1], '\0'};
    const char *attached = argument[2] != '\0' ? argument + 2 : NULL;
    if (strcmp(name, "-h") == 0 && attached == NULL) {
        self->cli->help = true;
        return MR_OK;
    }
    if (strcmp(name, "-c") == 0)
        return set_config_file(self, name, attached);
    for (size_t i = 0; i < mr_option_count; i++)
        if (strcmp(mr_options[i].short_flag, name + 1) == 0)
            return set_option(self, (int)i, name, attached);
    return unknown_flag(self, argument);
}

static mr_status parse_arguments(parser *self)
{
    mr_cli *cli = self->cli;
    bool operands_only = cli->command->raw;
    while (self->next < self->count && !cli->help) {
        const char *argument = self->arguments[self->next++];
        mr_status status = MR_OK;
        if (!operands_only && strcmp(argument, "--") == 0)
            operands_only = true;
        else if (!operands_only && strncmp(argument, "--", 2) == 0)
            status = parse_long(self, argument);
        else if (!operands_only && argument[0] == '-' && argument[1] != '\0')
            status = parse_short(self, argument);
        else if (!cli->operands || cli->operand_count == cli->command->operands_max)
            status = usage_error(self, "unexpected operand ", argument, "");
        else
            cli->operands[cli->operand_count++] = argument;
        operands_only = operands_only || (cli->command->runs_program && cli->operand_count > 0);
        if (status != MR_OK)
            return status;
    }
    if (!cli->help && cli->operand_count < cli->command->operands_min)
        return mr_error_set(self->error, MR_ERR_USAGE, NULL, 0,
                            "missing operand; usage: maxrace %s [FLAGS] %s", cli->command->name,
                            cli->command->operands);
    return MR_OK;
}

/* The environment first, then files, then flags; then what concerns several keys, and whether the command has the format.
 */
static mr_status apply(parser *self)
{
    mr_config *config = self->cli->config;
    mr_status status = MR_OK;
    if (self->cli->command->subject == MR_SUBJECT_RUNS)
        status = mr_tsan_options_read(getenv("TSAN_OPTIONS"), config, &self->cli->finding_status,
                                      self->error);
    for (size_t i = 0; i < self->setting_count && status == MR_OK; i++)
        if (self->settings[i].option < 0)
            status = mr_config_load(config, self->settings[i].text, self->error);
    for (size_t i = 0; i < self->setting_count && status == MR_OK; i++)
        if (self->settings[i].option >= 0)
            status = mr_config_set(config, mr_options[self->settings[i].option].key,
                                   self->settings[i].text, NULL, 0, self->error);
    if (status == MR_OK)
        status = mr_config_check(config, self->error);
    const mr_command *command = self->cli->command;
    if (status == MR_OK)
        status = mr_format_check(config, command->subject, command->name, self->error);
    return status;
}

mr_status mr_cli_parse(mr_cli *cli, const mr_command *command, int count, char **arguments,
                       mr_error *error)
{
    *cli = (mr_cli){.command = command, .config = mr_config_new(), .finding_status = MR_EXIT_RACES};
    parser self = {.cli = cli, .arguments = arguments, .count = count, .error = error};
    self.settings = mr_calloc((size_t)count + 1, sizeof *self.settings);
    cli->operands = mr_calloc((size_t)count + 1, sizeof *cli->operands);
    mr_status status;
    if (cli->config == NULL || self.settings == NULL || cli->operands == NULL)
        status = mr_error_memory(error, "reading the command line");
    else
        status = mr_descriptors_of_process(&cli->descriptors, error);
    if (status == MR_OK)
        status = parse_arguments(&self);
    if (status == MR_OK && !cli->help)
        status = apply(&self);
    free(self.settings);
    return status;
}

void mr_cli_free(mr_cli *cli)
{
    mr_config_free(cli->config);
    free(cli->operands);
    mr_descriptors_free(&cli->descriptors);
    *cli = (mr_cli){0};
}
