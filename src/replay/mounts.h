/*
 * mounts: what is mounted, as far as a sandbox asks (sandbox.h): where, and whether files can be written there that
 * stay.
 */
#ifndef MR_REPLAY_MOUNTS_H
#define MR_REPLAY_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct mr_mount {
    char *path;   /* owned */
    bool is_kept; /* files that a program writes there stay: no pseudo file system, not read-only */
} mr_mount;

/* Zero-initialise; free with mr_mounts_free. Each path is there once. */
typedef struct mr_mounts {
    mr_mount *items;
    size_t count, capacity;
} mr_mounts;

/* Reads /proc/self/mountinfo, or a file like it. With `looks`, mounts that others hide are left out. False: it cannot be
 * read, or no memory. */
bool mr_mounts_read(mr_mounts *mounts, const char *path, bool looks);
void mr_mounts_free(mr_mounts *mounts);

/* The mount at the path itself, or NULL. */
const mr_mount *mr_mounts_at(const mr_mounts *mounts, const char *path);
/* Is the mount below the folder? */
bool mr_mount_is_below(const mr_mount *mount, const char *folder);
/* Is any? */
bool mr_mounts_below(const mr_mounts *mounts, const char *folder);

#endif
