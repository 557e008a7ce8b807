#include "real.h"

#include "sys.h"

#include <stdlib.h>
#include <sys/syscall.h>

static void missing(const char *name)
{
    mr_complain("no such function in the libraries: ", name);
    mr_sys(SYS_exit_group, 127, 0, 0, 0, 0, 0);
}

/* The look-up leaves addresses and the stack's guard, which are others in each run, where the next function of the program pads its
 * variables. */
static __attribute__((noinline)) void clear_stack(void)
{
    volatile char room[3072];
    for (size_t i = 0; i < sizeof room; i++) {
        room[i] = 0;
    }
}

/*
 * Functions of condition variables have an old version that expects another structure; the newest
 * is the default, which dlsym gives for RTLD_NEXT only when asked by version.
 */
void *mr_real_find_version(const char *name, const char *version)
{
    void *found = dlvsym(RTLD_NEXT, name, version);
    clear_stack();
    return found != NULL ? found : mr_real_find(name);
}

static void *find_in(const char *file, int flags, const char *name)
{
    __typeof__(&dlopen) open_library = (__typeof__(&dlopen))dlsym(RTLD_NEXT, "dlopen");
    void *library = open_library != NULL ? open_library(file, RTLD_LAZY | flags) : NULL;
    return library != NULL ? dlsym(library, name) : NULL;
}

/* For a plugin that brings a library along, and a program that is linked with libstdc++.a. */
static void *find_elsewhere(const char *name)
{
    static const struct {
        const char *begin, *file;
        int flags;
    } all[] = {
        {"crypt", "libcrypt.so.1", 0},
        {"_ZN3tbb", "libtbb.so.12", 0},
        {"scalable_", "libtbbmalloc.so.2", 0},
        {"_Z", "libQt5Core.so.5", RTLD_NOLOAD}, /* one of them is there */
        {"_Z", "libQt6Core.so.6", RTLD_NOLOAD},
        {"_ZN12Qt", "libQt5Concurrent.so.5", RTLD_NOLOAD},
        {"_ZN12Qt", "libQt6Concurrent.so.6", RTLD_NOLOAD},
        {"qVersion", "libQt5Core.so.5", RTLD_NOLOAD},
        {"qVersion", "libQt6Core.so.6", RTLD_NOLOAD},
        {"_Z", "libstdc++.so.6", 0},
        {"g_", "libglib-2.0.so.0", 0},
        {"g_", "libgobject-2.0.so.0", 0},
        {"g_", "libgio-2.0.so.0", 0},
        {"__kmpc_", "libomp.so.5", RTLD_NOLOAD},
        {"omp_", "libomp.so.5", RTLD_NOLOAD},
        {"omp_", "libgomp.so.1", RTLD_NOLOAD},
        {"GOMP_", "libgomp.so.1", RTLD_NOLOAD},
    };
    void *found = NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all && found == NULL; i++) {
        if (mr_begins_with(name, all[i].begin)) {
            found = find_in(all[i].file, all[i].flags, name);
        }
    }
    return found;
}

/* libc keeps the message of a failure until the thread's next such call, which may be within a call of the program's. */
static void *unless_missing(void *found)
{
    if (found == NULL) {
        dlerror();
        dlerror(); /* it frees the message */
    }
    return found;
}

void *mr_real_next(const char *name)
{
    return unless_missing(dlsym(RTLD_NEXT, name));
}

void *mr_real_any(const char *name)
{
    return unless_missing(dlsym(RTLD_DEFAULT, name));
}

void *mr_real_look(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL) {
        found = unless_missing(find_elsewhere(name));
    }
    clear_stack();
    return found;
}

void *mr_real_find(const char *name)
{
    void *found = mr_real_look(name);
    if (found == NULL) {
        missing(name);
    }
    return found;
}
