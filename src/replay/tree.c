#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool remove_in(int parent, const char *name);

static bool empty_folder(int folder)
{
    DIR *entries = fdopendir(folder);
    const struct dirent *entry;
    bool ok = entries != NULL;
    while (entries && (entry = readdir(entries)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            ok = remove_in(dirfd(entries), entry->d_name) && ok;
    if (entries)
        closedir(entries);
    else
        close(folder);
    return ok;
}

/* An empty folder is removed without looking into it: that of overlayfs may not be read. */
static bool remove_in(int parent, const char *name)
{
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT ||
        unlinkat(parent, name, AT_REMOVEDIR) == 0)
        return true;
    fchmodat(parent, name, 0700, 0);
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return folder >= 0 && empty_folder(folder) && unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

bool mr_tree_remove(const char *path)
{
    return remove_in(AT_FDCWD, path);
}
