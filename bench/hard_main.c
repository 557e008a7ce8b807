/*
 * hard: writes a hard trace (hard.h) to standard output.
 *
 *   hard --list        the names of the members
 *   hard NAME
 */
#include "hard.h"

#include <errno.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: hard NAME | --list\n", stderr);
        return 2;
    }
    for (size_t i = 0; i < mr_hard_large_count; i++) {
        const mr_hard_shape *shape = &mr_hard_large[i];
        if (strcmp(argv[1], "--list") == 0) {
            puts(shape->name);
        } else if (strcmp(argv[1], shape->name) == 0) {
            if (mr_hard_write(shape, stdout) && fflush(stdout) == 0 && !ferror(stdout))
                return 0;
            fprintf(stderr, "hard: cannot write the trace: %s\n", strerror(errno));
            return 1;
        }
    }
    if (strcmp(argv[1], "--list") == 0)
        return 0;
    fprintf(stderr, "hard: there is no trace '%s'; --list names them\n", argv[1]);
    return 2;
}
