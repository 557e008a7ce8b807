/*
 * run_info: what an .mrt file knows of the recorded run (its RUN chunk), taken apart.
 */
#ifndef MR_REPLAY_RUN_INFO_H
#define MR_REPLAY_RUN_INFO_H

#include "base/bytes.h"
#include "base/error.h"
#include "descriptors.h"

#include <stdbool.h>

/* Zero-initialise; free with mr_run_info_free. Texts are owned. */
typedef struct mr_run_module {
    uint64_t start, end, bias;
    char *build_id, *path; /* "-": it has none */
} mr_run_module;

typedef struct mr_texts {
    const char **items; /* owned texts, NULL at the end */
    size_t count, capacity;
} mr_texts;

typedef struct mr_run_info {
    mr_texts arguments, environment;
    char *folder;   /* NULL: not known */
    char *schedule; /* "random" …; NULL: not known */
    uint64_t seed;
    bool waits_in_deadlock;
    mr_descriptors descriptors; /* that the program began with; none: not known */
    mr_run_module *modules;
    size_t module_count, module_capacity;
} mr_run_info;

/* Variables of the environment that a recorded program does not get, NULL at the end: else the same
 * seed would give another trace in another shell. */
extern const char *const mr_run_info_hidden[];

/* Lines that it does not know are passed over. MR_ERR_MEMORY. */
mr_status mr_run_info_read(mr_run_info *info, const char *lines, mr_error *error);
void mr_run_info_free(mr_run_info *info);

/* Reads them from a schedule (plan.h), whose other lines it passes over. MR_ERR_IO, MR_ERR_TRACE: it
 * is no schedule. */
mr_status mr_run_info_of_schedule(mr_run_info *info, const char *path, mr_error *error);

/* Writes the lines of a run again. */
void mr_run_info_again(mr_bytes *lines, const mr_run_info *info);

/* Writes the lines of a run that begins now: arguments, folder, environment, descriptors. */
void mr_run_info_lines(mr_bytes *lines, const char *const *arguments, bool waits_in_deadlock,
                       const mr_descriptors *descriptors);

/* The same of a run with an environment and a folder of its own; NULL: ours, and no descriptors. */
void mr_run_info_of_command(mr_bytes *lines, const char *const *arguments,
                            const char *const *environment, const char *folder,
                            const mr_descriptors *descriptors);

#endif
