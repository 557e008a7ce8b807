/*
 * store: the folder of a hunt, which can be stopped at any moment and gone on with.
 *
 *   journal            lines of text, one for each setting (settings.h), one for each run, one for each run
 *                      whose log was stopped, one for each finding; a line is written at once, when all that it speaks of is there
 *   first-output, first-errors   what the first run wrote; how it ended is in the journal
 *   behaviours/N.mrt   the trace of each run that was new
 *   findings/N-KIND/   schedule, trace.mrt, output, errors, report.txt and, when there are any, inputs
 *
 *   claims             what the processes of the hunt have in hand (claims.h)
 *
 * After kill -9 the run under way is lost, and nothing else.
 *
 * Several processes may have the folder open. Who writes to the journal holds its lock, and has read what the others have written.
 */
#ifndef MR_HUNT_STORE_H
#define MR_HUNT_STORE_H

#include "base/error.h"
#include "replay/judge.h"

#include <stdbool.h>
#include <stdint.h>

enum { MR_STORE_PATH_BYTES = 3500 };

typedef struct mr_store_folder {
    char path[MR_STORE_PATH_BYTES];
    int journal;    /* descriptor; -1: none */
    bool has_begun; /* reopened: the journal has settings */
    /* So much of the journal this process has written, or read by mr_store_read_on. */
    uint64_t bytes, lines;
} mr_store_folder;

/* A run, as the journal has it. */
typedef struct mr_hunt_line {
    uint64_t number; /* from 1 on */
    char kind[16];   /* of its task */
    uint32_t parent,
        behaviour; /* UINT32_MAX: none; behaviour: the number that it got as a new one */
    uint32_t depth;
    uint64_t key, signature;
    double at; /* seconds since the hunt began, its breaks left out */
    char outcome[16];
} mr_hunt_line;

typedef struct mr_finding_line {
    uint32_t number;
    uint64_t run, identity;
    char kind[16], text[300];
    uint64_t count; /* runs that showed it, as far as known; not in the journal */
} mr_finding_line;

/* Makes the folder, and locks the journal until its settings are in it. MR_ERR_IO: it is there already. */
mr_status mr_store_make(mr_store_folder *store, const char *path, mr_error *error);
/* Opens the folder of an earlier hunt, and locks the journal, which has no settings when that hunt was killed at its begin. MR_ERR_IO: it is none. */
mr_status mr_store_reopen(mr_store_folder *store, const char *path, mr_error *error);
/* Of a reopened folder without settings, under the lock: they may be written now. MR_ERR_IO. */
mr_status mr_store_begin_again(mr_store_folder *store, mr_error *error);
void mr_store_close(mr_store_folder *store);

/* Waits until no other process holds the lock of the journal. MR_ERR_IO: there are no locks. */
mr_status mr_store_lock(const mr_store_folder *store, mr_error *error);
void mr_store_unlock(const mr_store_folder *store);

/* Adds lines to the journal. MR_ERR_IO, also when somebody else has written to it, in spite of the lock. */
mr_status mr_store_line(mr_store_folder *store, const char *line, mr_error *error);
mr_status mr_store_run(mr_store_folder *store, const mr_hunt_line *run, mr_error *error);
/* The log of the run was stopped, because it had reached its limit: a line "cut NUMBER". */
mr_status mr_store_cut(mr_store_folder *store, uint64_t run, mr_error *error);
mr_status mr_store_finding(mr_store_folder *store, const mr_finding_line *finding, mr_error *error);

/* Who wants to know what the journal says, in its order. Each returns false when there is no memory;
 * `setting` gets a line that is neither run nor finding. A last line without an end is passed over. */
typedef struct mr_store_reader {
    void *context;
    bool (*setting)(void *context, const char *key, const char *value);
    bool (*run)(void *context, const mr_hunt_line *run);
    bool (*finding)(void *context, const mr_finding_line *finding);
} mr_store_reader;

/* All lines. MR_ERR_IO, MR_ERR_TRACE: a line makes no sense, MR_ERR_MEMORY. */
mr_status mr_store_read(const mr_store_folder *store, const mr_store_reader *reader,
                        mr_error *error);
/* The lines behind `bytes`, which others have written; under the lock. A last line without an end is cut off: who wrote it was killed. */
mr_status mr_store_read_on(mr_store_folder *store, const mr_store_reader *reader, mr_error *error);

/* How the first run ended, with which later ones are compared: written, and read again when the journal
 * has the setting "first" with this value. MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_store_first(mr_store_folder *store, const mr_run_end *end, mr_error *error);
void mr_store_read_first(const mr_store_folder *store, const char *value, mr_run_end *end);

/* The text of a file of a hunt's folder, up to a NUL, owned by the caller; NULL: there is none. */
char *mr_store_text(const char *folder, const char *name);

void mr_store_behaviour_path(const mr_store_folder *store, uint32_t number,
                             char path[MR_STORE_PATH_BYTES + 64]);
void mr_store_finding_path(const mr_store_folder *store, const mr_finding_line *finding,
                           const char *file, char path[MR_STORE_PATH_BYTES + 64]);

#endif
