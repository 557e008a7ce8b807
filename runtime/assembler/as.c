/*
 * as: stands before the assembler when `maxrace cc` calls gcc (src/cli/cc.c), and puts calls around the atomic accesses of
 * inline assembly, and after each look at the counter of ticks (rewrite.h). When there are none, or the assembler does not
 * take the changed text, it gets the text as it was.
 *
 * The assembler itself is the next one in the folders where gcc looks (COMPILER_PATH), or that of PATH.
 */
#include "rewrite.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Options whose value is the next argument. */
static bool takes_next(const char *option)
{
    static const char *const options[] = {
        "-o",
        "-I",
        "--MD",
        "--defsym",
        "--debug-prefix-map",
        "--listing-lhs-width",
        "--listing-lhs-width2",
        "--listing-rhs-width",
        "--listing-cont-lines",
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (strcmp(option, options[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* The argument that names the input: 0: standard input, -1: not one text for 64 bits. */
static int input_of(char **arguments)
{
    int found = 0;
    for (int i = 1; arguments[i] != NULL; i++) {
        if (takes_next(arguments[i])) {
            if (arguments[++i] == NULL) {
                return -1;
            }
        } else if (strcmp(arguments[i], "--32") == 0 || strcmp(arguments[i], "--x32") == 0 ||
                   arguments[i][0] == '@' || strcmp(arguments[i], "--version") == 0) {
            return -1;
        } else if (arguments[i][0] != '-' || arguments[i][1] == '\0' ||
                   strcmp(arguments[i], "--") == 0) {
            if (found != 0) {
                return -1;
            }
            found = i;
        }
    }
    return found;
}

/* Is this another file than this program? */
static bool is_other(const char *path)
{
    struct stat it, own;
    return access(path, X_OK) == 0 && stat(path, &it) == 0 && stat("/proc/self/exe", &own) == 0 &&
           (it.st_dev != own.st_dev || it.st_ino != own.st_ino);
}

static _Noreturn void run(char **arguments)
{
    char path[PATH_MAX];
    const char *folders = getenv("COMPILER_PATH");
    while (folders != NULL && *folders != '\0') {
        size_t length = strcspn(folders, ":");
        snprintf(path, sizeof path, "%.*s/as", (int)length, folders);
        if (length > 0 && is_other(path)) {
            execv(path, arguments);
        }
        folders += length + (folders[length] == ':');
    }
    execvp("as", arguments);
    perror("as");
    exit(1);
}

static char *read_all(int file, size_t *length)
{
    size_t capacity = 1 << 16;
    char *text = malloc(capacity);
    *length = 0;
    for (ssize_t got; text != NULL; *length += (size_t)got) {
        if (*length == capacity) {
            char *more = realloc(text, capacity *= 2);
            if (more == NULL) {
                break;
            }
            text = more;
        }
        got = read(file, text + *length, capacity - *length);
        if (got == 0) {
            return text;
        }
        if (got < 0) {
            break;
        }
    }
    free(text);
    return NULL;
}

/* A file without a name, to be read from its start. */
static FILE *new_file(void)
{
    int file = memfd_create("as", 0);
    return file < 0 ? NULL : fdopen(file, "w+");
}

static void read_from(FILE *file)
{
    fflush(file);
    lseek(fileno(file), 0, SEEK_SET);
    dup2(fileno(file), STDIN_FILENO);
}

/* Passes on what was written to the file. */
static void tell(FILE *file)
{
    rewind(file);
    for (int byte; (byte = getc(file)) != EOF;) {
        putc(byte, stderr);
    }
}

/* Does the assembler take the text? Then this says what it says of it. */
static bool assembles(char **arguments, int input, FILE *text)
{
    FILE *said = new_file();
    pid_t child = said != NULL ? fork() : -1;
    if (child == 0) {
        dup2(fileno(said), STDERR_FILENO);
        read_from(text);
        if (input > 0) {
            arguments[input] = (char[]){"--"};
        }
        run(arguments);
    }
    int status = 1;
    bool takes = child > 0 && waitpid(child, &status, 0) == child && status == 0;
    if (takes) {
        tell(said);
    }
    return takes;
}

static bool may_have_calls(const char *text, size_t length)
{
    return memmem(text, length, "#APP", 4) != NULL || memmem(text, length, "\tlock", 5) != NULL ||
           memmem(text, length, "\trdtsc", 6) != NULL;
}

int main(int count, char **arguments)
{
    (void)count;
    int input = input_of(arguments);
    bool standard = input == 0 || (input > 0 && arguments[input][0] == '-');
    int file = input < 0 ? -1 : standard ? STDIN_FILENO : open(arguments[input], O_RDONLY);
    size_t length;
    char *text = file < 0 ? NULL : read_all(file, &length);
    FILE *changed = text == NULL ? NULL : new_file();
    if (changed != NULL && may_have_calls(text, length) && mr_rewrite(text, length, changed) > 0 &&
        fflush(changed) == 0 && assembles(arguments, input, changed)) {
        return 0;
    }
    if (standard && file >= 0) {
        FILE *same = text != NULL ? new_file() : NULL;
        if (same == NULL || fwrite(text, 1, length, same) != length || fflush(same) != 0) {
            perror("as");
            return 1;
        }
        read_from(same);
    }
    run(arguments);
}
