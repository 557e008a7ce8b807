/* shells: completions of commands and flags, from their tables. */
#ifndef MR_CLI_SHELLS_H
#define MR_CLI_SHELLS_H

#include <stdbool.h>

/* Prints the script of the shell, "bash", "zsh" or "fish", to standard output. False: it is none of them. */
bool mr_shell_complete(const char *shell);

#endif
