/* runtime_place: where what is not in the program itself is: beside the program (in the folder that
 * it was built in), or in lib/maxrace of the folder that it was installed in. */
#ifndef MR_CLI_RUNTIME_PLACE_H
#define MR_CLI_RUNTIME_PLACE_H

#include "base/error.h"

#include <stdbool.h>

enum { MR_RUNTIME_PATH_BYTES = 4096 + 64 };

typedef struct mr_runtime_place {
    char folder[MR_RUNTIME_PATH_BYTES];   /* with libmaxrace_rt.so */
    char stand_in[MR_RUNTIME_PATH_BYTES]; /* what gcc finds instead of its own, ends with '/' */
    char include[MR_RUNTIME_PATH_BYTES];  /* with maxrace/annotate.h; "": among the system's */
} mr_runtime_place;

/* Where the file is; false: nowhere, and `path` is in the last folder that was tried. */
bool mr_place_find(const char *file, char path[MR_RUNTIME_PATH_BYTES]);

/* The runtime library of recorded programs. The environment variable MAXRACE_RUNTIME names another
 * folder. MR_ERR_IO: it is not there. */
mr_status mr_runtime_find(mr_runtime_place *place, mr_error *error);

#endif
