/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _XOPEN_SOURCE 700 /* mkdtemp */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scratch.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void mr_scratch_make(mr_scratch *scratch)
{
    const char *base = getenv("TMPDIR");
    snprintf(scratch->dir, sizeof scratch->dir, "%.200s/maxrace-test-XXXXXX",
             base != NULL && base[0] != '\0' ? base : "/tmp");
    assert_non_null(mkdtemp(scratch->dir));
}

static void remove_folder(const char *dir, int levels)
{
    char path[1024];
    DIR *folder = opendir(dir);
    struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%.500s/%.256s", dir, entry->d_name);
        if (unlink(path) != 0 && levels > 0)
            remove_folder(path, levels - 1);
    }
    if (folder != NULL)
        closedir(folder);
    rmdir(dir);
}

void mr_scratch_remove(mr_scratch *scratch)
{
    remove_folder(scratch->dir, 1);
}

const char *mr_scratch_path(const mr_scratch *scratch, const char *name, char path[512])
{
    snprintf(path, 512, "%s/%.200s", scratch->dir, name);
    return path;
}

const char *mr_scratch_write(const mr_scratch *scratch, const char *name, const char *text,
                             char path[512])
{
    FILE *file = fopen(mr_scratch_path(scratch, name, path), "wb");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    return path;
}

char *mr_file_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    size_t length = 0, capacity = 4096;
    char *text = malloc(capacity);
    while (text != NULL) {
        length += fread(text + length, 1, capacity - length - 1, file);
        if (length < capacity - 1)
            break;
        capacity *= 2;
        char *larger = realloc(text, capacity);
        if (larger == NULL)
            free(text);
        text = larger;
    }
    fclose(file);
    if (text != NULL)
        text[length] = '\0';
    return text;
}

void mr_scratch_write_files(const mr_scratch *scratch, const mr_scratch_file *files, size_t count)
{
    char path[512];
    for (size_t i = 0; i < count; i++)
        mr_scratch_write(scratch, files[i].name, files[i].text, path);
}

void mr_scratch_setup(void **state, mr_scratch *scratch)
{
    mr_scratch_make(scratch);
    *state = scratch;
}

int mr_scratch_teardown(void **state)
{
    mr_scratch_remove(*state);
    return 0;
}
