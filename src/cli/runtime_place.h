/* runtime_place: finds the files that maxrace needs beside its program. They are in the folder of
 * the program (where it was built), or in lib/maxrace of the folder where it was installed. */
#ifndef MR_CLI_RUNTIME_PLACE_H
#define MR_CLI_RUNTIME_PLACE_H

#include "base/error.h"

#include <stdbool.h>

enum { MR_RUNTIME_PATH_BYTES = 4096 + 64 };

typedef struct mr_runtime_place {
    char folder[MR_RUNTIME_PATH_BYTES];   /* with libmaxrace_rt.so */
    char stand_in[MR_RUNTIME_PATH_BYTES]; /* searched by gcc before its own folders; ends with '/'
                                           */
    char include[MR_RUNTIME_PATH_BYTES];  /* with maxrace/annotate.h; "": a system folder has it */
} mr_runtime_place;

/* Finds the file. False: it is nowhere, and `path` is in the last folder that was tried. */
bool mr_place_find(const char *file, char path[MR_RUNTIME_PATH_BYTES]);

/* The runtime library of recorded programs. The environment variable MAXRACE_RUNTIME names another
 * folder. MR_ERR_IO: it is not there. */
mr_status mr_runtime_find(mr_runtime_place *place, mr_error *error);

#endif
