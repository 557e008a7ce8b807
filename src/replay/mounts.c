/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _GNU_SOURCE /* statx */

#include "mounts.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* File systems that show the kernel's own things, and automounters, which must not be touched. */
static const char *const pseudo[] = {
    "proc",      "sysfs",       "devtmpfs", "devpts",    "cgroup",     "cgroup2",
    "mqueue",    "debugfs",     "tracefs",  "bpf",       "securityfs", "pstore",
    "autofs",    "configfs",    "nsfs",     "hugetlbfs", "efivarfs",   "fusectl",
    "selinuxfs", "binfmt_misc", "nfsd",     "rpc_pipefs"};

static bool is_pseudo(const char *type)
{
    for (size_t i = 0; i < sizeof pseudo / sizeof *pseudo; i++)
        if (strcmp(type, pseudo[i]) == 0)
            return true;
    return false;
}

void mr_mounts_free(mr_mounts *mounts)
{
    for (size_t i = 0; i < mounts->count; i++)
        free(mounts->items[i].path);
    free(mounts->items);
    *mounts = (mr_mounts){.items = NULL};
}

/* "\040" is a space. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        bool is_octal = at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' &&
                        at[2] <= '7' && at[3] >= '0' && at[3] <= '7';
        *to++ = is_octal ? (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0')) : *at;
        at += is_octal ? 3 : 0;
    }
    *to = '\0';
}

/* Is something mounted there that can be seen? What may not be looked at may be. */
static bool is_seen(const char *path)
{
    struct statx info;
    if (statx(AT_FDCWD, path, AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW, STATX_TYPE, &info) != 0)
        return errno == EACCES;
    return !(info.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) ||
           (info.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

static bool add(mr_mounts *mounts, const char *path, bool is_kept)
{
    for (size_t i = 0; i < mounts->count; i++)
        if (strcmp(mounts->items[i].path, path) == 0) { /* the later one lies above */
            mounts->items[i].is_kept = is_kept;
            return true;
        }
    char *copy = mr_strndup(path, strlen(path));
    if (!copy || !mr_grow((void **)&mounts->items, &mounts->capacity, mounts->count + 1,
                          sizeof *mounts->items)) {
        free(copy);
        return false;
    }
    mounts->items[mounts->count++] = (mr_mount){copy, is_kept};
    return true;
}

static bool is_read_only(const char *options)
{
    return strncmp(options, "ro", 2) == 0 && (options[2] == ',' || !options[2]);
}

/* "36 35 98:0 / /home rw,noatime shared:1 - ext4 /dev/sda rw" */
static bool take(mr_mounts *mounts, char *line, bool looks)
{
    char *words[6], *at = line, *rest = strstr(line, " - "), *save = NULL;
    for (int i = 0; i < 6; i++, at = NULL)
        if (!(words[i] = strtok_r(at, " \n", &save)))
            return true;
    char *type = rest ? strtok_r(rest + 3, " \n", &save) : NULL;
    if (type)
        strtok_r(NULL, " \n", &save);
    const char *options = type ? strtok_r(NULL, " \n", &save) : NULL;
    if (!type)
        return true;
    unescape(words[4]);
    bool is_kept =
        !is_pseudo(type) && !is_read_only(words[5]) && !(options && is_read_only(options));
    return (looks && !is_seen(words[4])) || add(mounts, words[4], is_kept);
}

bool mr_mounts_read(mr_mounts *mounts, const char *path, bool looks)
{
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "re");
    bool ok = file != NULL;
    while (ok && getline(&line, &room, file) > 0)
        ok = take(mounts, line, looks);
    ok = ok && !ferror(file);
    free(line);
    if (file)
        fclose(file);
    return ok;
}

const mr_mount *mr_mounts_at(const mr_mounts *mounts, const char *path)
{
    for (size_t i = 0; i < mounts->count; i++)
        if (strcmp(mounts->items[i].path, path) == 0)
            return &mounts->items[i];
    return NULL;
}

bool mr_mount_is_below(const mr_mount *mount, const char *folder)
{
    size_t length = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
    return strncmp(mount->path, folder, length) == 0 && mount->path[length] == '/' &&
           mount->path[length + 1];
}

bool mr_mounts_below(const mr_mounts *mounts, const char *folder)
{
    for (size_t i = 0; i < mounts->count; i++)
        if (mr_mount_is_below(&mounts->items[i], folder))
            return true;
    return false;
}
