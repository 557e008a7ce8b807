/* Answers that are kept in files: found again, never wrong after damage, bounded. */
/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _XOPEN_SOURCE 700 /* nftw */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/scratch.h"
#include "symbols/answers.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct scratch {
    char base[256], folder[320], program[320];
} scratch;

static const uint8_t id[20] = {0xab, 1, 2, 3};
static const mr_answer_key keys[] = {{{1, 0x1234}}, {{1, 0x1235}}, {{4, 1, 2, 3, 4, 5}}};
static const struct {
    const char *bytes;
    size_t count;
} values[] = {{"00main\0a.c:1:2", 15}, {"", 0}, {"f.x", 3}};
enum { KEYS = sizeof keys / sizeof *keys };

static void write_file(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

static int set_up(void **state)
{
    scratch *self = calloc(1, sizeof *self);
    mr_scratch folder;
    mr_scratch_make(&folder);
    snprintf(self->base, sizeof self->base, "%.200s", folder.dir);
    snprintf(self->folder, sizeof self->folder, "%s/cache/in/a/folder", self->base);
    snprintf(self->program, sizeof self->program, "%s/program", self->base);
    write_file(self->program, "program", 7);
    *state = self;
    return 0;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

static int tear_down(void **state)
{
    scratch *self = *state;
    nftw(self->base, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(self);
    return 0;
}

static void add_all(const scratch *self)
{
    mr_answers answers;
    mr_answers_open(&answers, self->folder, self->program, id, sizeof id);
    for (int i = 0; i < KEYS; i++)
        mr_answers_add(&answers, &keys[i], values[i].bytes, values[i].count);
    mr_answers_close(&answers);
}

/* How many answers are known; those are right. */
static int known(const char *folder, const char *program, size_t id_bytes)
{
    mr_answers answers;
    int count = 0;
    mr_answers_open(&answers, folder, program, id, id_bytes);
    for (int i = 0; i < KEYS; i++) {
        const void *bytes;
        size_t size;
        if (!mr_answers_find(&answers, &keys[i], &bytes, &size))
            continue;
        count++;
        assert_int_equal(size, values[i].count);
        assert_memory_equal(bytes, values[i].bytes, size);
    }
    mr_answers_close(&answers);
    return count;
}

/* The only file of the folder. */
static void find_file(const scratch *self, char path[640])
{
    DIR *folder = opendir(self->folder);
    int count = 0;
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.' && ++count)
            snprintf(path, 640, "%s/%s", self->folder, entry->d_name);
    closedir(folder);
    assert_int_equal(count, 1);
}

static void test_kept(void **state)
{
    const scratch *self = *state;
    struct stat first, second;
    char path[640];
    assert_int_equal(known(self->folder, self->program, sizeof id), 0);
    assert_int_not_equal(access(self->folder, F_OK), 0); /* nothing new: nothing written */
    add_all(self);
    find_file(self, path);
    assert_int_equal(stat(path, &first), 0);
    assert_int_equal(known(self->folder, self->program, sizeof id), KEYS);
    find_file(self, path);
    assert_int_equal(stat(path, &second), 0);
    assert_int_equal(first.st_ino, second.st_ino);
    /* Without a folder, a build-id or the file nothing is known, and nothing is kept. */
    assert_int_equal(known(NULL, self->program, sizeof id), 0);
    assert_int_equal(known(self->folder, self->program, 0), 0);
    assert_int_equal(known(self->folder, "/nowhere/program", sizeof id), 0);
}

/* The same build-id in another version of the file, as after strip. */
static void test_other_version(void **state)
{
    const scratch *self = *state;
    add_all(self);
    write_file(self->program, "stripped", 8);
    assert_int_equal(known(self->folder, self->program, sizeof id), 0);
}

static void test_damage(void **state)
{
    const scratch *self = *state;
    char path[640], bytes[4096];
    add_all(self);
    find_file(self, path);
    FILE *file = fopen(path, "rb");
    size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t i = 0; i < count; i++) {
        bytes[i] ^= 0x41;
        write_file(path, bytes, count);
        bytes[i] ^= 0x41;
        known(self->folder, self->program, sizeof id);
    }
    for (size_t length = 0; length < count; length++) {
        write_file(path, bytes, length);
        assert_int_equal(known(self->folder, self->program, sizeof id), 0);
    }
    bytes[count] = 0;
    write_file(path, bytes, count + 1);
    assert_int_equal(known(self->folder, self->program, sizeof id), 0);
    write_file(path, "", 0);
    add_all(self); /* a damaged file is replaced */
    assert_int_equal(known(self->folder, self->program, sizeof id), KEYS);
}

/* No folder can be made: nothing is kept, and nothing fails. */
static void test_no_folder(void **state)
{
    scratch *self = *state;
    snprintf(self->folder, sizeof self->folder, "%s/program/below", self->base);
    add_all(self);
    assert_int_equal(known(self->folder, self->program, sizeof id), 0);
}

/* The files that were used longest ago go when the folder is too large; others stay. */
static void test_bound(void **state)
{
    const scratch *self = *state;
    char paths[3][512];
    add_all(self);
    for (int i = 0; i < 3; i++) {
        const struct timespec times[2] = {{1000 + 10 * i, 0}, {1000 + 10 * i, 0}};
        snprintf(paths[i], sizeof paths[i], "%s/%d.%s", self->folder, i,
                 i == 2 ? "txt" : "answers.x1y2z3");
        write_file(paths[i], "", 0);
        assert_int_equal(truncate(paths[i], MR_ANSWERS_FOLDER_BYTES - 4096), 0);
        assert_int_equal(utimensat(AT_FDCWD, paths[i], times, 0), 0);
    }
    mr_answers answers;
    const mr_answer_key key = {{9}};
    mr_answers_open(&answers, self->folder, self->program, id, sizeof id);
    mr_answers_add(&answers, &key, "new", 3);
    mr_answers_close(&answers);
    assert_int_not_equal(access(paths[0], F_OK), 0);
    assert_int_equal(access(paths[1], F_OK), 0);
    assert_int_equal(access(paths[2], F_OK), 0);
    assert_int_equal(known(self->folder, self->program, sizeof id), KEYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_version, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_folder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bound, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
