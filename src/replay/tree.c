#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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
    if (fchmodat(parent, name, 0700, 0) != 0 && errno == ENOENT)
        return true;
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return folder >= 0 && empty_folder(folder) && unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

bool mr_tree_remove(const char *path)
{
    return remove_in(AT_FDCWD, path);
}

bool mr_tree_is_empty(const char *path)
{
    int count = 0;
    DIR *entries = opendir(path);
    while (entries && count < 3 && readdir(entries))
        count++; /* . and .. */
    if (entries)
        closedir(entries);
    return entries && count == 2;
}

void mr_tree_prune(const char *path, const char *real)
{
    char inner[4096], other[4096];
    struct stat info;
    DIR *entries = lstat(path, &info) == 0 && S_ISDIR(info.st_mode) &&
                           chmod(path, (info.st_mode & 07777) | 0700) == 0
                       ? opendir(path)
                       : NULL;
    const struct dirent *entry;
    while (entries && (entry = readdir(entries))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(inner, sizeof inner, "%.3800s/%.255s", path, entry->d_name);
        snprintf(other, sizeof other, "%.3800s/%.255s", real, entry->d_name);
        mr_tree_prune(inner, other);
        if (lstat(other, &info) == 0 && S_ISDIR(info.st_mode))
            rmdir(inner); /* fails where something is in it, and for what is no folder */
    }
    if (entries)
        closedir(entries);
}
