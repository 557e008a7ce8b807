/*
 * tsan_options: the environment variable TSAN_OPTIONS, for `run`, which stands where the program built with
 * ThreadSanitizer stood. Keys are separated by blanks, commas or colons; a value may stand in quotes.
 *
 *   suppressions=FILE  as --suppressions
 *   exitcode=N         the exit status when there are findings, instead of 1
 *   log_path=PATH      the report goes to PATH.PID; not for stdout, stderr
 *   halt_on_error=1    as --halt-on-finding: no further run after one with findings
 *   strip_path_prefix  as --record-strip-prefix
 *
 * All other keys are about the program while it runs, and are passed over. Configuration files and
 * flags win.
 */
#ifndef MR_CLI_TSAN_OPTIONS_H
#define MR_CLI_TSAN_OPTIONS_H

#include "config/config.h"

/* `text` may be NULL. `*exit_status` is set when the text has one. MR_ERR_CONFIG for a value that cannot
 * be. */
mr_status mr_tsan_options_read(const char *text, mr_config *config, int *exit_status,
                               mr_error *error);

#endif
