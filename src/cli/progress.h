/*
 * progress: one line on the terminal while something takes long: the stage, how far it is, and how
 * fast it goes. It appears after a second, is rewritten in place, and is gone at the end.
 *
 *   mr_cli_progress_start → library calls with &self.progress → mr_cli_progress_end
 *
 * Nothing is written when standard error is no terminal, or with --quiet. The stages "reading" and
 * "converting" count bytes; "windows", "far races", "witnesses" and "candidates" count those; every
 * other stage counts events.
 */
#ifndef MR_CLI_PROGRESS_H
#define MR_CLI_PROGRESS_H

#include "base/progress.h"
#include "config/config.h"

typedef struct mr_cli_progress {
    mr_progress
        progress; /* for the library; its context is this struct, which must stay in place */
    bool active, shown;
    const char *stage;
    uint64_t stage_done; /* when the stage began */
    double start_seconds, stage_seconds, shown_seconds;
} mr_cli_progress;

void mr_cli_progress_start(mr_cli_progress *self, const mr_config *config);
/* Erases the line. Call it before anything else is printed; it may appear again, until the job is
 * done. */
void mr_cli_progress_end(mr_cli_progress *self);

/* The text of the line: "reading 45 %, 253.1 MB/s". `rate` is in units a second. */
void mr_cli_progress_text(const char *stage, uint64_t done, uint64_t total, double rate,
                          char *buffer, size_t size_bytes);

#endif
