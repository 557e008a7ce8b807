/* story: what the log of a recorded program says, for tests of the runtime. */
#ifndef MR_TESTS_STORY_H
#define MR_TESTS_STORY_H

#include "record/log_reader.h"

/* A write of this value is looked for. */
#define MR_STORY_MARK 123456789

typedef struct mr_story {
    mr_log_header header;
    uint64_t records, reads;
    uint64_t unknown; /* writes without a value */
    bool marked;      /* the write of the mark is there */
    uint64_t last[2]; /* of the last record */
} mr_story;

/* Reads all records. Fails the test when one is damaged, when a read sees what no write before it
 * wrote, or when two threads hold a lock. */
void mr_story_read(mr_story *self, const char *path);

#endif
