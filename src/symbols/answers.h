/*
 * answers: what the debug information of one file says, kept in a file of a cache folder, so that
 * the next recording need not read it again. An answer is bytes under a key of six numbers; what
 * they mean is the caller's.
 *
 *   mr_answers_open → (mr_answers_find | mr_answers_add)* → mr_answers_close
 *
 * The cache file is named by the build-id and by a digest of what an answer depends on: size and
 * time of the file, and the same of this program. It has a checksum over all of it. A file that is
 * damaged, missing, or cannot be read or written costs time, never an answer: this module returns
 * no error. It is written under another name and renamed, so others see all of it or nothing; of
 * several that write at once, the last one wins.
 *
 * A cache file has at most MR_ANSWERS_FILE_BYTES, and the folder about MR_ANSWERS_FOLDER_BYTES:
 * files that were used longest ago go first.
 */
#ifndef MR_SYMBOLS_ANSWERS_H
#define MR_SYMBOLS_ANSWERS_H

#include "base/arena.h"
#include "base/table.h"

enum { MR_ANSWERS_FILE_BYTES = 32 << 20, MR_ANSWERS_FOLDER_BYTES = 256 << 20 };

typedef struct mr_answer_key {
    uint64_t words[6];
} mr_answer_key;

typedef struct mr_answer {
    mr_answer_key key;
    const void *bytes; /* in the arena or in `loaded` */
    uint32_t count;
} mr_answer;

typedef struct mr_answers {
    char *folder, *path; /* owned; path NULL: nothing is kept */
    char *loaded;        /* owned: the cache file */
    mr_answer *items;
    uint32_t count;
    size_t capacity;
    mr_table table;
    mr_arena arena;
    bool has_new;
} mr_answers;

/* Zero-initialise. About `file`, which has the build-id. Without a folder (NULL), without a build-id
 * or without the file nothing is kept. */
void mr_answers_open(mr_answers *answers, const char *folder, const char *file, const uint8_t *id,
                     size_t id_bytes);

/* The answer, valid until mr_answers_close. False: it is not known. */
bool mr_answers_find(const mr_answers *answers, const mr_answer_key *key, const void **bytes,
                     size_t *count);

/* Adds an answer to a key that has none. */
void mr_answers_add(mr_answers *answers, const mr_answer_key *key, const void *bytes, size_t count);

/* From now on nothing is added, and the cache file stays as it is. */
void mr_answers_stop(mr_answers *answers);

/* Writes the cache file when there are new answers, and frees all. */
void mr_answers_close(mr_answers *answers);

#endif
