#include "shells.h"

#include "cli.h"

#include <stdio.h>
#include <string.h>

typedef void flag_printer(const mr_command *command, const char *flag, const char *help,
                          const char *words);

/* Calls the function for each flag of the command; `words` are the values that it takes, with bars. */
static void each_flag(const mr_command *command, flag_printer *print)
{
    char flag[80];
    if (command->takes_config)
        print(command, "--config", "read settings from a YAML file", "");
    if (command->switch_name != NULL) {
        snprintf(flag, sizeof flag, "--%s", command->switch_name);
        print(command, flag, command->switch_help, "");
    }
    for (int i = 0; i < MR_OWN_FLAGS && command->own[i].name != NULL; i++) {
        const char *value = command->own[i].value;
        snprintf(flag, sizeof flag, "--%s", command->own[i].name);
        print(command, flag, command->own[i].help, strchr(value, '|') ? value : "");
    }
    if (command->debugs)
        print(command, "--debug", "what modules decide", "");
    print(command, "--help", "print the help", "");
    for (size_t i = 0; i < mr_option_count; i++) {
        if (!mr_command_has(command, i))
            continue;
        mr_config_flag(i, flag, sizeof flag);
        print(command, flag, mr_options[i].help,
              mr_options[i].type == MR_OPTION_CHOICE ? mr_options[i].choices : "");
    }
}

/* "a|b" as "a b" */
static void print_words(const char *words)
{
    for (; *words != '\0'; words++)
        putchar(*words == '|' ? ' ' : *words);
}

static void print_commands(void)
{
    for (size_t i = 0; i < mr_command_count; i++)
        printf("%s%s", i > 0 ? " " : "", mr_commands[i].name);
}

/* ---- bash, and zsh by its bashcompinit ---- */

static void print_bash_flag(const mr_command *command, const char *flag, const char *help,
                            const char *words)
{
    (void)command;
    (void)help;
    (void)words;
    printf("%s ", flag);
}

static void print_bash_words(const mr_command *command, const char *flag, const char *help,
                             const char *words)
{
    (void)help;
    if (words[0] == '\0')
        return;
    printf("        '%s %s') values='", command->name, flag);
    print_words(words);
    puts("' ;;");
}

static void print_bash(void)
{
    puts("_maxrace() {\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} "
         "command=${COMP_WORDS[1]} flags='' values=''\n"
         "    COMPREPLY=()\n"
         "    if [ \"$COMP_CWORD\" -eq 1 ]; then");
    fputs("        COMPREPLY=($(compgen -W '", stdout);
    print_commands();
    puts("' -- \"$word\"))\n        return\n    fi\n    case \"$command\" in");
    for (size_t i = 0; i < mr_command_count; i++) {
        printf("        %s) flags='", mr_commands[i].name);
        each_flag(&mr_commands[i], print_bash_flag);
        puts("' ;;");
    }
    puts("    esac\n    case \"$command $before\" in");
    for (size_t i = 0; i < mr_command_count; i++)
        each_flag(&mr_commands[i], print_bash_words);
    fputs("        'help help') ;;\n        'help '*) values='", stdout);
    print_commands();
    puts("' ;;\n    esac\n"
         "    if [ -n \"$values\" ]; then\n"
         "        COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
         "    elif [[ $word == -* ]]; then\n"
         "        COMPREPLY=($(compgen -W \"$flags\" -- \"$word\"))\n"
         "    else\n"
         "        COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "    fi\n"
         "}\n"
         "complete -o filenames -F _maxrace maxrace");
}

/* ---- fish ---- */

/* In quotes of fish. */
static void print_fish_text(const char *text)
{
    putchar('\'');
    for (; *text != '\0'; text++)
        printf(*text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
    putchar('\'');
}

static void print_fish_flag(const mr_command *command, const char *flag, const char *help,
                            const char *words)
{
    printf("complete -c maxrace -n '__fish_seen_subcommand_from %s' -l %s -d ", command->name,
           flag + 2);
    print_fish_text(help);
    if (words[0] != '\0') {
        fputs(" -x -a '", stdout);
        print_words(words);
        putchar('\'');
    }
    putchar('\n');
}

static void print_fish(void)
{
    for (size_t i = 0; i < mr_command_count; i++) {
        printf("complete -c maxrace -n __fish_use_subcommand -x -a %s -d ", mr_commands[i].name);
        print_fish_text(mr_commands[i].summary);
        putchar('\n');
        each_flag(&mr_commands[i], print_fish_flag);
    }
}

bool mr_shell_complete(const char *shell)
{
    if (strcmp(shell, "zsh") == 0)
        puts("#compdef maxrace\nautoload -U +X bashcompinit && bashcompinit");
    if (strcmp(shell, "bash") == 0 || strcmp(shell, "zsh") == 0)
        print_bash();
    else if (strcmp(shell, "fish") == 0)
        print_fish();
    else
        return false;
    return true;
}
