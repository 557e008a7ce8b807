/* scratch: a folder of its own for a test, files in it, and whole files as text. */
#ifndef MR_TESTS_SUPPORT_SCRATCH_H
#define MR_TESTS_SUPPORT_SCRATCH_H

#include <stddef.h>

typedef struct mr_scratch {
    char dir[256];
} mr_scratch;

/* All of these end the test when they fail. */
void mr_scratch_make(mr_scratch *scratch);
/* Removes the folder and the files in it, and in its folders (one level). */
void mr_scratch_remove(mr_scratch *scratch);

/* The path of a file in the folder, in `path`. */
const char *mr_scratch_path(const mr_scratch *scratch, const char *name, char path[512]);
/* Writes a file; its path is in `path`. */
const char *mr_scratch_write(const mr_scratch *scratch, const char *name, const char *text,
                             char path[512]);

/* A small file that a test writes into its folder. */
typedef struct mr_scratch_file {
    const char *name, *text;
} mr_scratch_file;

void mr_scratch_write_files(const mr_scratch *scratch, const mr_scratch_file *files, size_t count);

/* For cmocka_run_group_tests: the setup of a group calls the first, its teardown is the second. */
void mr_scratch_setup(void **state, mr_scratch *scratch);
int mr_scratch_teardown(void **state);

/* The whole file, terminated, owned by the caller; NULL when it cannot be read. */
char *mr_file_text(const char *path);

#endif
