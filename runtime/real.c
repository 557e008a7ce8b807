#include "real.h"

#include "sys.h"

#include <stdlib.h>
#include <sys/syscall.h>

static void missing(const char *name)
{
    mr_complain("no such function in the libraries: ", name);
    mr_sys(SYS_exit_group, 127, 0, 0, 0, 0, 0);
}

/*
 * Functions of condition variables have an old version that expects another structure; the newest
 * is the default, which dlsym gives for RTLD_NEXT only when asked by version.
 */
void *mr_real_find_version(const char *name, const char *version)
{
    void *found = dlvsym(RTLD_NEXT, name, version);
    return found != NULL ? found : mr_real_find(name);
}

/* For a plugin that brings libstdc++ along, or a program that is linked with libstdc++.a. */
static void *find_in_cxx(const char *name)
{
    __typeof__(&dlopen) open_library = (__typeof__(&dlopen))dlsym(RTLD_NEXT, "dlopen");
    void *library =
        open_library != NULL ? open_library("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL) : NULL;
    return library != NULL ? dlsym(library, name) : NULL;
}

void *mr_real_find(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL && name[0] == '_' && name[1] == 'Z') {
        found = find_in_cxx(name);
    }
    if (found == NULL) {
        missing(name);
    }
    return found;
}
