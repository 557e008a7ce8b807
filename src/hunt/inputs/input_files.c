#include "input_files.h"

#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { PATH_ROOM = 4096 };

static mr_status failed(mr_error *error, const char *path, const char *what)
{
    return mr_error_set(error, MR_ERR_IO, path, 0, "cannot be %s: %s", what, strerror(errno));
}

static mr_status read_stream(FILE *file, size_t most, uint8_t **bytes, size_t *size,
                             mr_error *error)
{
    size_t capacity = 0, got;
    void *items = NULL;
    *size = 0;
    do {
        if (!mr_grow(&items, &capacity, *size + 4096, 1)) {
            free(items);
            return mr_error_memory(error, "reading an input");
        }
        size_t room = most - *size < 4096 ? most - *size : 4096;
        got = fread((uint8_t *)items + *size, 1, room, file);
        *size += got;
    } while (got > 0 && *size < most);
    *bytes = items;
    return MR_OK;
}

mr_status mr_input_file_read(const char *path, size_t most, uint8_t **bytes, size_t *size,
                             mr_error *error)
{
    FILE *file = fopen(path, "rb");
    *bytes = NULL;
    *size = 0;
    if (!file)
        return failed(error, path, "read");
    mr_status status = read_stream(file, most, bytes, size, error);
    fclose(file);
    return status;
}

mr_status mr_input_file_write(const char *path, const uint8_t *bytes, size_t size, mr_error *error)
{
    FILE *file = fopen(path, "wb");
    bool done = file && fwrite(bytes, 1, size, file) == size;
    done = file && fclose(file) == 0 && done;
    return done ? MR_OK : failed(error, path, "written");
}

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static mr_status add_file(mr_inputs *inputs, const char *folder, const char *name, size_t most,
                          size_t *count, mr_error *error)
{
    char path[PATH_ROOM];
    struct stat info;
    uint8_t *bytes;
    size_t size;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return mr_error_set(error, MR_ERR_IO, folder, 0,
                            "this path is too long; use a shorter one");
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return MR_OK;
    mr_status status = mr_input_file_read(path, most, &bytes, &size, error);
    if (!status && !mr_inputs_add(inputs, bytes, size))
        status = mr_error_memory(error, "reading inputs");
    free(bytes);
    ++*count;
    return status;
}

mr_status mr_inputs_add_folder(mr_inputs *inputs, const char *folder, size_t most, mr_error *error)
{
    struct dirent **entries;
    size_t added = 0;
    int count = scandir(folder, &entries, is_input, alphasort);
    mr_status status = count < 0 ? failed(error, folder, "read") : MR_OK;
    for (int i = 0; i < count; i++) {
        if (!status)
            status = add_file(inputs, folder, entries[i]->d_name, most, &added, error);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    if (!status && !added)
        status = mr_error_set(error, MR_ERR_IO, folder, 0,
                              "there is no file in this folder; put an input there");
    return status;
}

mr_status mr_inputs_add_generated(mr_inputs *inputs, const char *command, uint32_t count,
                                  size_t most, mr_error *error)
{
    mr_status status = MR_OK;
    for (uint32_t i = 1; i <= count && !status; i++) {
        size_t room = strlen(command) + 64, size = 0;
        char *line = mr_malloc(1, room);
        uint8_t *bytes = NULL;
        if (!line)
            return mr_error_memory(error, "generating inputs");
        /* In the command: setenv is not for programs with threads. */
        snprintf(line, room, "MAXRACE_SEED=%u; export MAXRACE_SEED; %s", i, command);
        FILE *pipe = popen(line, "r");
        if (!pipe)
            status = failed(error, command, "run");
        else
            status = read_stream(pipe, most, &bytes, &size, error);
        int end = pipe ? pclose(pipe) : 0;
        /* One that has written more than is taken may get a signal for it. */
        if (!status && end != 0 && size < most)
            status = mr_error_set(error, MR_ERR_IO, NULL, 0,
                                  "the command that generates inputs ended with status %d: %.200s",
                                  WIFEXITED(end) ? WEXITSTATUS(end) : 128 + WTERMSIG(end), command);
        if (!status && !mr_inputs_add(inputs, bytes, size))
            status = mr_error_memory(error, "generating inputs");
        free(bytes);
        free(line);
    }
    return status;
}
