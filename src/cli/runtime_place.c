#include "runtime_place.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Cuts off the last part of a path. */
static void to_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
}

/* Is the library in this folder? */
static bool try_folder(mr_runtime_place *place, const char *folder, const char *below)
{
    char path[MR_RUNTIME_PATH_BYTES + 32];
    snprintf(place->folder, sizeof place->folder, "%.4000s%s", folder, below);
    snprintf(path, sizeof path, "%s/libmaxrace_rt.so", place->folder);
    return access(path, R_OK) == 0;
}

/* A header beside the sources, or in the folder of the installation. */
static void find_include(mr_runtime_place *place, const char *program)
{
    static const char *const folders[] = {"/../../runtime/include", "/../include"};
    char path[MR_RUNTIME_PATH_BYTES + 32];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(place->include, sizeof place->include, "%.4000s%s", program, folders[i]);
        snprintf(path, sizeof path, "%s/maxrace/annotate.h", place->include);
        if (access(path, R_OK) == 0)
            return;
    }
    place->include[0] = '\0';
}

static void find_program(char program[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", program, PATH_MAX - 1);
    program[length > 0 ? length : 0] = '\0';
    to_folder(program);
}

bool mr_place_find(const char *file, char path[MR_RUNTIME_PATH_BYTES])
{
    static const char *const below[] = {"", "/../lib/maxrace"};
    char program[PATH_MAX];
    find_program(program);
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        snprintf(path, MR_RUNTIME_PATH_BYTES, "%.4000s%s/%s", program, below[i], file);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

mr_status mr_runtime_find(mr_runtime_place *place, mr_error *error)
{
    char program[PATH_MAX];
    const char *asked = getenv("MAXRACE_RUNTIME");
    find_program(program);
    bool found = asked && *asked ? try_folder(place, asked, "")
                                 : try_folder(place, program, "") ||
                                       try_folder(place, program, "/../lib/maxrace");
    if (!found)
        return mr_error_set(error, MR_ERR_IO, NULL, 0,
                            "there is no libmaxrace_rt.so in %.512s; set MAXRACE_RUNTIME to its "
                            "folder",
                            place->folder);
    snprintf(place->stand_in, sizeof place->stand_in, "%.4096s/cc/", place->folder);
    find_include(place, program);
    return MR_OK;
}
