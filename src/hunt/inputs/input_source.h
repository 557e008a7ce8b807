/*
 * input_source: the inputs of a hunt, in its folder: where they come from, how the program gets them, and
 * what is known of each.
 *
 *   inputs/000012     an input that was tried; it stays when it covered something new, or a behaviour or a
 *                     finding came of it
 *   inputs/behaviours a line "BEHAVIOUR INPUT" for each behaviour
 *
 * The program gets an input as a file in the place of `@@` among its arguments; as arguments, one a
 * line, in that place or behind the others; or on its standard input. The path of an input is the same in each
 * run of it, as the program may see it.
 *
 * Several processes may use the folder. Each searches by itself; the numbers of inputs are unique, because a file is made for each.
 *
 * Which one is next, inputs.h says. The caller has a lock around all calls but mr_input_place_make.
 */
#ifndef MR_HUNT_INPUT_SOURCE_H
#define MR_HUNT_INPUT_SOURCE_H

#include "inputs.h"

#include "replay/judge.h"

enum { MR_NO_SOURCE_INPUT = UINT32_MAX, MR_INPUT_PATH_BYTES = 4096 };

typedef struct mr_input_options {
    const char *folder; /* its files are inputs; NULL: none */
    const char
        *generator;     /* a command of the shell, whose standard output is an input; NULL: none */
    uint32_t generated; /* how often it is asked, with MAXRACE_SEED 1, 2, … in its environment */
    const char *arguments_file; /* inputs are arguments, and this is one; NULL: they are data */
    bool solves, mutates;       /* inputs.h */
    size_t most_bytes;          /* 0: as there */
} mr_input_options;

typedef struct mr_input_source mr_input_source;

/*
 * Reads the inputs that are given, and makes or takes up the folder `inputs` in `hunt_folder` (which is absolute, or
 * stays right). Without any input the empty one is tried. MR_ERR_IO: the generator fails, or a file cannot be
 * read or written; MR_ERR_USAGE: a path is too long; MR_ERR_MEMORY. `arguments` are on loan.
 */
mr_status mr_input_source_open(const mr_input_options *options, const char *hunt_folder,
                               const char *const *arguments, uint64_t seed,
                               mr_input_source **source, mr_error *error);
void mr_input_source_close(mr_input_source *source); /* NULL is fine */

/* The input of a free run. `*is_try`: it is a new one, and mr_input_source_told is to follow. */
mr_status mr_input_source_next(mr_input_source *source, uint32_t *input, bool *is_try,
                               mr_error *error);
/* What came of a try. `*is_new`: it is one to explore. */
mr_status mr_input_source_told(mr_input_source *source, uint32_t input, const mr_input_seen *seen,
                               bool *is_new, mr_error *error);
/* Is the file of another session, which may need it? */
bool mr_input_source_is_other(const mr_input_source *source, uint32_t input);
/* Its file is not needed: a try that is not new, and that no finding came of. */
void mr_input_source_drop(const mr_input_source *source, uint32_t input);

/* A behaviour is of this input. */
mr_status mr_input_source_note(mr_input_source *source, uint32_t behaviour, uint32_t input,
                               mr_error *error);
/* What other sessions have noted since then; their inputs are tried here, too. MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_input_source_read_on(mr_input_source *source, mr_error *error);
uint32_t mr_input_source_of(const mr_input_source *source, uint32_t behaviour);

/* How the first run of the input that did not fail ended; NULL: there was none. Valid until the source is closed. */
const mr_run_end *mr_input_source_reference(const mr_input_source *source, uint32_t input);
/* Takes a copy. False: no memory. */
bool mr_input_source_refer(mr_input_source *source, uint32_t input, const mr_run_end *end);

/* Counts: inputs that were tried, and those that are explored. */
uint32_t mr_input_source_tried(const mr_input_source *source);
uint32_t mr_input_source_kept(const mr_input_source *source);

/* How the program is run with an input. */
typedef struct mr_input_place {
    const char **arguments;         /* owned, ends with NULL; some are in `texts` */
    char *texts;                    /* owned */
    char path[MR_INPUT_PATH_BYTES]; /* of the input's file */
    bool is_stdin;                  /* it is the standard input */
} mr_input_place;

/* May be called without the lock. MR_ERR_IO: the file cannot be read; MR_ERR_MEMORY. Free it in any case. */
mr_status mr_input_place_make(const mr_input_source *source, uint32_t input, mr_input_place *place,
                              mr_error *error);
void mr_input_place_free(mr_input_place *place);

#endif
