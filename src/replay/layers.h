/*
 * layers: a root folder in which the real files can be read and changed, and the changes land elsewhere (overlayfs).
 *
 * A file system of its own lies over each folder D that has no mount below it, the real D under it. Where
 * something is mounted below D, the kernel refuses that in a user namespace. There a copy of D's own files lies
 * under it instead, and the folders in D are treated one by one. What is mounted read-only and the file systems of
 * the kernel (/proc, /sys, /dev) are the real ones. What cannot be layered can only be read.
 *
 * In a user namespace the kernel changes no file and no folder of another user or group, not even with permission. So
 * the folders above and below the working folder, and such files there (64 MB at most), are in the layer from the beginning.
 */
#ifndef MR_REPLAY_LAYERS_H
#define MR_REPLAY_LAYERS_H

#include "mounts.h"

#include <stdio.h>

enum { MR_LAYERS_PATH_BYTES = 4096, MR_LAYERS_WHY_BYTES = 512 };

typedef struct mr_layers {
    const char *folder;      /* has `files`, which gets the changes, and `work`, `lower`, `root` */
    const char *seen;        /* a folder that the program sees and changes as it is; NULL: none */
    const mr_mounts *mounts; /* of the calling process */
    const char *works_in;    /* where the program runs; NULL: ours */
    bool user_xattr; /* what overlayfs notes with a file stands in attributes user.overlay.… */
    FILE *told;      /* gets a line for each folder that can only be read; NULL: nobody */
} mr_layers;

/* Gives the calling process a mount namespace in which that is the root, and, when it may not have one, a user
 * namespace with the same user and group; /usr, /etc and the like can only be read then. The working folder stays. False: `why` says what is missing; the process
 * must end. */
bool mr_layers_enter(const mr_layers *layers, char why[MR_LAYERS_WHY_BYTES]);

#endif
