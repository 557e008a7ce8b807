/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _XOPEN_SOURCE 700 /* realpath */

#include "output.h"
#include "base/memory.h"
#include "leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ATTEMPTS_MAX 100

static bool is_standard(const char *path)
{
    return path[0] == '\0' || strcmp(path, "-") == 0;
}

static mr_status io_error(const char *path, const char *what, int number, mr_error *error)
{
    return mr_error_set(error, MR_ERR_IO, path, 0, "cannot %s: %s", what,
                        strerror(number != 0 ? number : EIO));
}

/* The folder of a path, owned by the caller. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return mr_strndup(".", 1);
    return mr_strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

mr_status mr_output_probe(const char *path, mr_error *error)
{
    struct stat info;
    if (is_standard(path))
        return MR_OK;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return io_error(path, "write", EISDIR, error);
        if (access(path, W_OK) != 0)
            return io_error(path, "write", errno, error);
        if (!S_ISREG(info.st_mode))
            return MR_OK;
    }
    char *folder = folder_of(path);
    if (folder == NULL)
        return mr_error_memory(error, "opening the output");
    bool writable = access(folder, W_OK | X_OK) == 0;
    int number = errno;
    free(folder);
    return writable ? MR_OK : io_error(path, "write", number, error);
}

/* Opens a new file beside the path, with the rights that a plain open would give it. */
static int open_temporary(mr_output *output)
{
    size_t size = strlen(output->path) + 40;
    output->temporary = mr_malloc(size, 0);
    if (output->temporary == NULL) {
        errno = ENOMEM;
        return -1;
    }
    int fd = -1;
    for (int attempt = 0; attempt < ATTEMPTS_MAX && fd < 0; attempt++) {
        snprintf(output->temporary, size, "%s.%ld.%d", output->path, (long)getpid(), attempt);
        fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    if (fd >= 0)
        output->leftover = mr_leftover_add(output->temporary, MR_LEFTOVER_REMOVE);
    return fd;
}

/* Opens the file itself or, for a regular or new one, a temporary one beside it. */
static int open_file(mr_output *output)
{
    struct stat info;
    bool exists = stat(output->path, &info) == 0;
    if (exists && !S_ISREG(info.st_mode))
        return open(output->path, O_WRONLY | O_CLOEXEC);
    int fd = open_temporary(output);
    /* Best effort: the new file gets the rights of the one that it replaces. */
    if (fd >= 0 && exists && fchmod(fd, info.st_mode & 07777) != 0)
        errno = 0;
    return fd;
}

static void output_free(mr_output *output)
{
    mr_leftover_forget(output->leftover);
    free(output->path);
    free(output->temporary);
    *output = (mr_output){0};
}

mr_status mr_output_open(mr_output *output, const char *path, mr_error *error)
{
    *output = (mr_output){.stream = stdout, .leftover = -1};
    if (is_standard(path))
        return MR_OK;
    /* A symbolic link stays one: the file that it names is replaced. */
    char *resolved = realpath(path, NULL);
    output->path = resolved != NULL ? resolved : mr_strndup(path, strlen(path));
    if (output->path == NULL)
        return mr_error_memory(error, "opening the output");
    int fd = open_file(output);
    output->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (output->stream != NULL)
        return MR_OK;
    int number = errno;
    if (fd >= 0) {
        close(fd);
        if (output->temporary != NULL)
            unlink(output->temporary);
    }
    output_free(output);
    return io_error(path, "write", number, error);
}

mr_status mr_output_close(mr_output *output, bool good, mr_error *error)
{
    mr_status status = MR_OK;
    errno = 0;
    bool failed = fflush(output->stream) != 0 || ferror(output->stream);
    int number = errno;
    if (output->path == NULL) {
        if (failed)
            status = io_error(NULL, "write to standard output", number, error);
        clearerr(stdout);
        output_free(output);
        return status;
    }
    if (fclose(output->stream) != 0 && !failed) {
        failed = true;
        number = errno;
    }
    if (!failed && good && output->temporary != NULL &&
        rename(output->temporary, output->path) != 0) {
        failed = true;
        number = errno;
    }
    if (output->temporary != NULL && (failed || !good))
        unlink(output->temporary);
    if (failed)
        status = io_error(output->path, "write", number, error);
    output_free(output);
    return status;
}

mr_status mr_output_write(const char *path, mr_output_writer *write, const void *context,
                          mr_error *error)
{
    mr_output output;
    mr_error close_error;
    mr_status status = mr_output_open(&output, path, error);
    if (status != MR_OK)
        return status;
    status = write(output.stream, context, error);
    mr_status closed = mr_output_close(&output, status == MR_OK, &close_error);
    if (status != MR_OK || closed == MR_OK)
        return status;
    *error = close_error;
    return closed;
}
