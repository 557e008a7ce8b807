/*
 * file: a checkpoint as a file (docs/long-runs.md), to which one run at a time appends.
 *
 *   head, settings, (record head, body)*
 *
 * A body is the outcome of a unit, as bytes. Numbers are in the byte order of the machine, which
 * the head names. Every byte is under a checksum. A record is appended by one write: a run that is
 * killed leaves at most one torn record, at the end of the file. A record begins with a mark and a
 * checksum of its head, so records behind a damaged one are found again.
 */
#ifndef MR_CHECKPOINT_FILE_H
#define MR_CHECKPOINT_FILE_H

#include "identity.h"

/* Raise it with every change of the layout, of the bytes of an outcome (predict/outcome_bytes.c),
 * or of the units and their numbers. */
enum { MR_CHECKPOINT_VERSION = 3 };

typedef struct mr_checkpoint_record {
    uint32_t phase;
    uint64_t unit, units; /* the unit, and how many the phase has */
    uint64_t before;      /* mr_store_phase.before */
    const uint8_t *body;  /* in the map of the file when it was read */
    uint64_t length;
    uint64_t offset; /* in the file: of the head of the record; when it was read */
} mr_checkpoint_record;

/* Zero-initialise; to be closed also after an error. */
typedef struct mr_checkpoint_file {
    char *path; /* owned */
    int fd;     /* when `path` */
    bool writable;
    const uint8_t *map; /* the contents of the file when it was opened */
    size_t map_bytes;
    uint64_t end; /* where the next record goes */
    mr_identity identity;
    uint32_t shard, shards;        /* the shard whose outcomes it has; 0: of a whole run */
    mr_checkpoint_record *records; /* the whole ones, in the order of the file; owned */
    size_t count, capacity;
    uint64_t damaged, damaged_at; /* damaged pieces between records; where the first one begins */
    uint64_t torn_bytes;          /* of a torn record at the end */
    uint64_t appended;            /* records, by this run */
    bool failed;                  /* a write failed: nothing more is written */
    double synced_seconds;        /* when the file was last brought to the disk */
} mr_checkpoint_file;

/* Opens a file to append to it. A new or empty file gets its head, with shard and shards as they
 * stand in `file`. A file that is not empty is refused without `resume` (MR_ERR_USAGE). With
 * `resume` it must have the identity (MR_ERR_CONFIG); its records are found in one pass, and a torn
 * record at its end is cut off. MR_ERR_CONFIG also: the file is no checkpoint. MR_ERR_IO, also when
 * another run has the file open or its head is damaged; MR_ERR_MEMORY. */
mr_status mr_checkpoint_file_start(mr_checkpoint_file *file, const char *path,
                                   const mr_identity *identity, bool resume, mr_error *error);

/* Opens a file only to read its records. The same errors. */
mr_status mr_checkpoint_file_read(mr_checkpoint_file *file, const char *path, mr_error *error);

/* Is there no such file, or an empty one? And the error for a file that should be new. */
bool mr_checkpoint_file_is_new(const char *path);
mr_status mr_checkpoint_file_exists_error(const char *path, mr_error *error);

/* Appends a record. When that fails, the file stays as it was: MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_checkpoint_file_append(mr_checkpoint_file *file, const mr_checkpoint_record *record,
                                    mr_error *error);

/* Brings all records to the disk (MR_ERR_IO: that failed), and closes the file in every case. */
mr_status mr_checkpoint_file_close(mr_checkpoint_file *file, mr_error *error);

#endif
