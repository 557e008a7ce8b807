/*
 * changes: the files that a run has created, changed and removed, from the layer that got them (layers.h), and in what
 * those of two runs differ.
 */
#ifndef MR_REPLAY_CHANGES_H
#define MR_REPLAY_CHANGES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum mr_change_kind {
    MR_CHANGE_CREATED,
    MR_CHANGE_CHANGED,
    MR_CHANGE_REMOVED,
} mr_change_kind;

const char *mr_change_name(mr_change_kind kind); /* "created", "changed", "removed" */

typedef struct mr_change {
    char *path; /* owned; that of a folder ends with a slash */
    mr_change_kind kind;
    uint64_t hash; /* of what is there now: type, permissions, content */
    char *text;    /* owned; the beginning of the content, or NULL */
    bool varies;   /* from run to run, whatever the order */
} mr_change;

/* By path. Zero-initialise; free with mr_changes_free. */
typedef struct mr_changes {
    mr_change *items;
    size_t count, capacity;
} mr_changes;

/* Reads the layer `upper`, which lay over the folder `real` ("/"). A file that was opened for writing, and has the same
 * content and permissions as before, is no change. Of a folder that is gone only itself is named. MR_ERR_IO,
 * MR_ERR_MEMORY. */
mr_status mr_changes_read(mr_changes *changes, const char *upper, const char *real,
                          mr_error *error);
void mr_changes_free(mr_changes *changes);

/* Notes in `changes` which files are not the same in `again`, of another run without another order. False: no
 * memory. */
bool mr_changes_note_varying(mr_changes *changes, const mr_changes *again);

/* The path of the first file that differs, which `varying` does not name as one that varies; `left` and `right` are its
 * change in each of the two, NULL where there is none. NULL: none differs. */
const char *mr_changes_differ(const mr_changes *a, const mr_changes *b, const mr_changes *varying,
                              const mr_change **left, const mr_change **right);

#endif
