/*
 * sandbox: a program runs, and the files that it writes, creates, renames and removes stay as they are: what it does
 * lands in a temporary folder (layers.h). Each run begins with the same files.
 *
 *   mr_sandbox_open → (mr_sandbox_begin → mr_sandbox_enter, in the process of the program → mr_sandbox_end)* →
 *   mr_sandbox_close
 *
 * Only files are kept apart. Devices, other processes, sockets and the network are the real ones.
 */
#ifndef MR_REPLAY_SANDBOX_H
#define MR_REPLAY_SANDBOX_H

#include "changes.h"
#include "layers.h"

enum { MR_SANDBOX_PATH_BYTES = 3000 };

/* Zero-initialise. */
typedef struct mr_sandbox {
    char folder[MR_SANDBOX_PATH_BYTES];    /* of all runs; "": there is none */
    char run[MR_SANDBOX_PATH_BYTES + 128]; /* … of the run under way */
    char seen[MR_SANDBOX_PATH_BYTES];      /* what the program sees and changes as it is */
    char works_in[4096];                   /* where it runs; "": where we do */
    bool is_kept, user_xattr;
    mr_mounts mounts;
    char **read_only; /* owned; folders in which the program cannot write here */
    size_t read_only_count, read_only_capacity;
} mr_sandbox;

/* Tries whether a sandbox can be made, in a new folder of TMPDIR, /tmp, /var/tmp or /dev/shm, or in `kept`, a folder that is
 * then left to the user (NULL: none). `seen`: a folder that the program sees as it is; `works_in`: where the program
 * runs, which must not be read-only here; NULL: ours. MR_ERR_IO: it cannot, and why; MR_ERR_MEMORY. In every case the caller calls
 * mr_sandbox_close. */
mr_status mr_sandbox_open(mr_sandbox *sandbox, const char *kept, const char *seen,
                          const char *works_in, mr_error *error);
/* Makes the layer of a run; one of the same name is removed. MR_ERR_IO. */
mr_status mr_sandbox_begin(mr_sandbox *sandbox, const char *name, mr_error *error);
/* The calling process goes in. False: `why`, and it must end. */
bool mr_sandbox_enter(const mr_sandbox *sandbox, char why[MR_LAYERS_WHY_BYTES]);
/* The run has ended: reads what it changed (NULL: nobody asks), and removes its layer unless it is kept. MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_sandbox_end(mr_sandbox *sandbox, mr_changes *changes, mr_error *error);
/* Removes all that is not kept. */
void mr_sandbox_close(mr_sandbox *sandbox);

#endif
