/*
 * saved_file: a file of outcomes (docs/long-runs.md), to which one run at a time appends.
 *
 *   head, settings, (record head, body)*
 *
 * Numbers are as the machine has them; the head says so. Every byte is under a checksum. A record
 * is appended by one write, so that a run that is killed leaves at most one that is not whole, at
 * the end. A record that is damaged does not hide those after it: they begin with a mark and a
 * checksum of their head.
 */
#ifndef MR_CHECKPOINT_SAVED_FILE_H
#define MR_CHECKPOINT_SAVED_FILE_H

#include "saved_identity.h"

#include <stdbool.h>

/* Raise it with every change of what follows, of outcome_bytes.c, or of which units there are. */
enum { MR_SAVED_VERSION = 1 };

/* A record. */
typedef struct mr_saved_record {
    uint32_t phase;
    uint64_t unit, units; /* of the phase: which one, of how many */
    uint64_t before;      /* the digest of mr_saved_phase */
    const uint8_t *body;  /* of what was read: in the file's map */
    uint64_t length;
    uint64_t offset; /* of what was read: of its head */
} mr_saved_record;

/* Zero-initialise; to be closed also after an error. */
typedef struct mr_saved_file {
    char *path; /* owned */
    int fd;     /* when `path` */
    bool writable;
    const uint8_t *map; /* what was in the file when it was opened */
    size_t map_bytes;
    uint64_t end; /* where the next record goes */
    mr_saved_identity identity;
    uint32_t shard, shards;   /* whose outcomes it has, as far as is known; 0: of all */
    mr_saved_record *records; /* those that are whole, in the order of the file; owned */
    size_t count, capacity;
    uint64_t damaged, damaged_at; /* pieces between records that are none; where the first begins */
    uint64_t torn_bytes;          /* at the end: of a record that was not written completely */
    uint64_t appended;            /* records, by this run */
    bool failed;                  /* a write failed: no more */
    double synced_seconds;        /* when it was last brought to the disk */
} mr_saved_file;

/* Opens a file to append to it. A new or empty one gets its head, with shard and shards as they
 * stand in `file`. One that is not empty is refused
 * without `resume` (MR_ERR_USAGE); else it has to have the identity (MR_ERR_CONFIG), its records
 * are found in one pass, and a record at its end that is not whole is cut off. MR_ERR_CONFIG also
 * for what is no such file; MR_ERR_IO, also when another run has it or its head is damaged;
 * MR_ERR_MEMORY. */
mr_status mr_saved_file_start(mr_saved_file *file, const char *path,
                              const mr_saved_identity *identity, bool resume, mr_error *error);

/* Opens a file only to read its records. The same errors. */
mr_status mr_saved_file_read(mr_saved_file *file, const char *path, mr_error *error);

/* Is there no such file, or nothing in it? And what is said when it should be so. */
bool mr_saved_file_is_new(const char *path);
mr_status mr_saved_file_exists_error(const char *path, mr_error *error);

/* Appends a record. What was in the file stays as it was when that fails: MR_ERR_IO,
 * MR_ERR_MEMORY. */
mr_status mr_saved_file_append(mr_saved_file *file, const mr_saved_record *record, mr_error *error);

/* Everything on the disk: MR_ERR_IO when that cannot be had. Closes in every case. */
mr_status mr_saved_file_close(mr_saved_file *file, mr_error *error);

#endif
