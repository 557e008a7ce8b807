/*
 * progress: one line on the terminal during long work: the stage, how much is done, and how fast.
 * The line appears after a second, is rewritten in place, and disappears at the end.
 *
 *   mr_cli_progress_start → library calls with &self.progress → mr_cli_progress_end
 *
 * Nothing is written when standard error is no terminal, or with --quiet. The stages "reading" and
 * "converting" count bytes; "windows", "far races", "witnesses" and "candidates" count what they
 * are named after; every other stage counts events.
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
/* Erases the line. The caller calls it before printing anything else. The line may appear again
 * while the work goes on. */
void mr_cli_progress_end(mr_cli_progress *self);

/* The text of the line: "reading 45 %, 253.1 MB/s". `rate` is in units a second. */
void mr_cli_progress_text(const char *stage, uint64_t done, uint64_t total, double rate,
                          char *buffer, size_t size_bytes);

#endif
