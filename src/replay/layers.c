/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _GNU_SOURCE /* unshare, O_PATH, mount_setattr, … */

#include "layers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { COPY_MOST = 16 << 20 };           /* larger files beside a mount can only be read */
enum { FOREIGN_MOST = 64 << 20 };        /* bytes of files of others that are copied … */
enum { LOOKS_MOST = 20000, DEPTH = 40 }; /* … after a look at so many, so deep */

typedef char path_text[MR_LAYERS_PATH_BYTES];

typedef struct building {
    const mr_layers *layers;
    unsigned number; /* of the next layer */
    bool is_user_namespace;
    unsigned looks, depth; /* of the search for files of others */
    off_t copied;
    bool told; /* `why` is written */
    char *why;
} building;

static bool fail(building *self, const char *what, const char *path)
{
    if (!self->told)
        snprintf(self->why, MR_LAYERS_WHY_BYTES, "%s%s%.300s: %s", what, *path ? " " : "", path,
                 strerror(errno));
    self->told = true;
    return false;
}

/* The place of a real path in a part of the folder ("root", "files", "lower"). */
static bool place(const building *self, const char *part, const char *path, path_text text)
{
    int length = snprintf(text, sizeof(path_text), "%s/%s%s", self->layers->folder, part,
                          strcmp(path, "/") == 0 ? "" : path);
    errno = ENAMETOOLONG;
    return length > 0 && (size_t)length < sizeof(path_text);
}

/* Makes the folder, and those above it, in that part. */
static bool make_folders(const building *self, const char *part, const char *path)
{
    path_text whole;
    if (!place(self, part, path, whole))
        return false;
    size_t start = strlen(self->layers->folder) + 1;
    for (char *at = whole + start; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        if (mkdir(whole, 0755) != 0 && errno != EEXIST)
            return false;
    }
    return mkdir(whole, 0755) == 0 || errno == EEXIST;
}

/* The folder looks like the real one. A user cannot give it another owner: it is not writable where that one is not. */
static bool look_like(const building *self, const char *part, const char *path)
{
    path_text whole;
    struct stat info;
    if (!place(self, part, path, whole) || stat(path, &info) != 0)
        return false;
    mode_t mode = info.st_mode & 07777;
    if (info.st_uid != geteuid() && lchown(whole, info.st_uid, info.st_gid) != 0 &&
        faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
        mode &= ~(mode_t)0222;
    return chmod(whole, mode) == 0;
}

/* ---- mounts ---- */

/* The real folder or file itself, with what is mounted below it. */
static bool bind(const building *self, const char *path, bool only_read)
{
    path_text at;
    struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY};
    return place(self, "root", path, at) && mount(path, at, NULL, MS_BIND | MS_REC, NULL) == 0 &&
           (!only_read ||
            mount_setattr(AT_FDCWD, at, AT_RECURSIVE, &attributes, sizeof attributes) == 0);
}

/* What lies at the path can only be read; so may what is mounted below it. */
static bool only_read(const building *self, const char *path)
{
    if (self->layers->told && access(path, W_OK) == 0)
        fprintf(self->layers->told, "%s\n", path);
    return bind(self, path, true) || errno == EACCES; /* nobody can look at it then */
}

/* overlayfs gets descriptors as paths: their texts have no commas and colons. `volatile` leaves out to write all of the disk's
 * files out at the end. */
static bool mount_overlay(const int folders[3], const char *at, bool user_xattr)
{
    char options[256];
    snprintf(
        options, sizeof options,
        "lowerdir=/proc/self/fd/%d,upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d,volatile%s",
        folders[0], folders[1], folders[2], user_xattr ? ",userxattr" : "");
    return folders[0] >= 0 && folders[1] >= 0 && folders[2] >= 0 &&
           mount("overlay", at, "overlay", 0, options) == 0;
}

/* Lays a file system over the path: under it lies `lower`. False: errno. */
static bool overlay(building *self, const char *path, const char *lower)
{
    path_text at, upper, work;
    char name[32];
    snprintf(name, sizeof name, "/%u", self->number++);
    if (!make_folders(self, "files", path) || !make_folders(self, "work", name) ||
        !place(self, "root", path, at) || !place(self, "files", path, upper) ||
        !place(self, "work", name, work) || !look_like(self, "files", path))
        return false;
    const char *const paths[] = {lower, upper, work};
    int folders[3];
    for (int i = 0; i < 3; i++)
        folders[i] = open(paths[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool ok = mount_overlay(folders, at, self->layers->user_xattr);
    int number = errno;
    for (int i = 0; i < 3; i++)
        if (folders[i] >= 0)
            close(folders[i]);
    errno = number;
    return ok;
}

/* ---- folders with mounts below them ---- */

static bool copy(int from, const char *to, const struct stat *info)
{
    int file = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    off_t left = info->st_size;
    const struct timespec times[2] = {info->st_atim, info->st_mtim};
    while (file >= 0 && left > 0) {
        ssize_t sent = sendfile(file, from, NULL, (size_t)left);
        if (sent <= 0)
            break;
        left -= sent;
    }
    bool ok =
        file >= 0 && left == 0 &&
        (fchown(file, info->st_uid, info->st_gid) == 0 || errno == EPERM || errno == EINVAL) &&
        fchmod(file, info->st_mode & 07777) == 0 && futimens(file, times) == 0;
    if (file >= 0)
        close(file);
    return ok;
}

/* Copies one entry of a folder: a folder without what is in it, a link, a file. `*binds`: a thing that is there in
 * name only. */
static bool copy_entry(const building *self, const char *path, const struct stat *info, bool *binds)
{
    path_text to, target;
    if (!place(self, "lower", path, to))
        return false;
    if (S_ISDIR(info->st_mode))
        return mkdir(to, 0755) == 0;
    if (S_ISLNK(info->st_mode)) {
        ssize_t length = readlink(path, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        return length > 0 && symlink(target, to) == 0;
    }
    bool is_small = S_ISREG(info->st_mode) && info->st_size <= COPY_MOST;
    int from = is_small ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    bool copied = from >= 0 && copy(from, to, info);
    if (from >= 0)
        close(from);
    *binds = !copied;
    if (copied)
        return true;
    int empty = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return empty >= 0 && close(empty) == 0;
}

static bool cover(building *self, const char *path);

/* For each entry of a folder, by name. False ends it. */
static bool each_entry(building *self, const char *path,
                       bool (*visit)(building *self, const char *path, const struct stat *info))
{
    DIR *folder = opendir(path);
    bool ok = folder != NULL;
    struct dirent *entry;
    while (ok && (entry = readdir(folder))) {
        path_text whole;
        struct stat info;
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        snprintf(whole, sizeof whole, "%.3800s/%.255s", path[1] ? path : "", name);
        if (lstat(whole, &info) == 0)
            ok = visit(self, whole, &info);
    }
    if (folder)
        closedir(folder);
    return ok;
}

static bool visit_copy(building *self, const char *path, const struct stat *info)
{
    bool ignored = false;
    return copy_entry(self, path, info, &ignored) || fail(self, "copying", path);
}

/* An entry that could not be copied has no size. */
static bool visit_cover(building *self, const char *path, const struct stat *info)
{
    path_text copied;
    struct stat there;
    if (S_ISDIR(info->st_mode))
        return cover(self, path);
    if (S_ISLNK(info->st_mode) || !place(self, "lower", path, copied))
        return true;
    bool is_copied = S_ISREG(info->st_mode) && lstat(copied, &there) == 0 &&
                     there.st_size == info->st_size && there.st_mode == info->st_mode;
    return is_copied || bind(self, path, S_ISREG(info->st_mode)) ||
           fail(self, "mounting a file at", path);
}

/* Is the mount below the folder, and no other one in between? */
static bool is_next_below(const mr_mounts *mounts, const mr_mount *mount, const char *folder)
{
    if (!mr_mount_is_below(mount, folder))
        return false;
    for (size_t i = 0; i < mounts->count; i++)
        if (mr_mount_is_below(&mounts->items[i], folder) &&
            mr_mount_is_below(mount, mounts->items[i].path))
            return false;
    return true;
}

/* Treats what is mounted below a folder. `only_kept`: the others are there already. */
static bool cover_mounts(building *self, const char *path, bool only_kept)
{
    const mr_mounts *mounts = self->layers->mounts;
    bool ok = true;
    for (size_t i = 0; ok && i < mounts->count; i++) {
        const mr_mount *mount = &mounts->items[i];
        struct stat info;
        if (!is_next_below(mounts, mount, path) || stat(mount->path, &info) != 0)
            continue;
        if (S_ISDIR(info.st_mode))
            ok = only_kept && !mount->is_kept ? cover_mounts(self, mount->path, true)
                                              : cover(self, mount->path);
        else
            ok = bind(self, mount->path, S_ISREG(info.st_mode)) ||
                 fail(self, "mounting a file at", mount->path);
    }
    return ok;
}

/* A folder with mounts below it. */
static bool cover_mixed(building *self, const char *path)
{
    path_text lower;
    if (access(path, R_OK | X_OK) != 0)
        return (only_read(self, path) && cover_mounts(self, path, true)) ||
               fail(self, "mounting", path);
    if (!place(self, "lower", path, lower) || !make_folders(self, "lower", path) ||
        !each_entry(self, path, visit_copy) || !overlay(self, path, lower))
        return fail(self, "mounting a file system at", path);
    return each_entry(self, path, visit_cover);
}

/* A folder in which a user writes nothing: it costs the time of a layer for nothing. */
static bool is_of_system(const char *path)
{
    static const char *const folders[] = {"/bin",        "/boot",  "/etc",    "/lib",
                                          "/lib32",      "/lib64", "/libx32", "/sbin",
                                          "/lost+found", "/root",  "/usr"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strcmp(path, folders[i]) == 0)
            return access(path, W_OK) != 0;
    return false;
}

/* Others may remove a folder after it was listed. Leaves errno as it is. */
static bool is_gone(const char *path)
{
    struct stat info;
    int saved_errno = errno;
    bool is_gone = lstat(path, &info) != 0 && errno == ENOENT;
    errno = saved_errno;
    return is_gone;
}

static bool cover(building *self, const char *path)
{
    const mr_mount *here = mr_mounts_at(self->layers->mounts, path);
    if (here && !here->is_kept)
        return (bind(self, path, false) || errno == EACCES || fail(self, "mounting", path)) &&
               cover_mounts(self, path, true);
    if (self->is_user_namespace && is_of_system(path))
        return bind(self, path, true) || errno == EACCES || fail(self, "mounting", path);
    if (!self->is_user_namespace && overlay(self, path, path))
        return cover_mounts(self, path, false);
    if (mr_mounts_below(self->layers->mounts, path))
        return cover_mixed(self, path);
    return overlay(self, path, path) || only_read(self, path) || is_gone(path) ||
           fail(self, "mounting a file system at", path);
}

/* ---- files of others, in a user namespace ---- */

static bool visit_foreign(building *self, const char *path, const struct stat *info);

/* Puts a folder into the layer, and what belongs to others in it. */
static bool take_folder(building *self, const char *path)
{
    if (!make_folders(self, "files", path) || !look_like(self, "files", path))
        return false;
    if (self->depth == DEPTH || access(path, R_OK | X_OK) != 0)
        return true;
    self->depth++;
    bool ok = each_entry(self, path, visit_foreign);
    self->depth--;
    return ok;
}

static bool visit_foreign(building *self, const char *path, const struct stat *info)
{
    path_text to;
    bool is_foreign = info->st_uid != geteuid() || info->st_gid != getegid();
    if (++self->looks > LOOKS_MOST || mr_mounts_at(self->layers->mounts, path))
        return true;
    if (S_ISDIR(info->st_mode)) /* the layers themselves are no folder of the program */
        return strcmp(path, self->layers->folder) == 0 || take_folder(self, path);
    if (!is_foreign || !S_ISREG(info->st_mode) || access(path, R_OK | W_OK) != 0 ||
        info->st_size > FOREIGN_MOST - self->copied || !place(self, "files", path, to))
        return true;
    int from = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool ok = from >= 0 && copy(from, to, info);
    self->copied += info->st_size;
    if (from >= 0)
        close(from);
    return ok;
}

/* What the layer needs from the beginning. */
static bool prepare(building *self)
{
    path_text folder;
    if (!self->is_user_namespace)
        return true;
    if (self->layers->works_in)
        snprintf(folder, sizeof folder, "%s", self->layers->works_in);
    else if (!getcwd(folder, sizeof folder))
        return true;
    for (char *at = folder; at[0] && (at = strchr(at + 1, '/'));) {
        *at = '\0';
        bool ok = make_folders(self, "files", folder) && look_like(self, "files", folder);
        *at = '/';
        if (!ok)
            return fail(self, "copying", folder);
    }
    return take_folder(self, folder) || fail(self, "copying", folder);
}

/* ---- the namespace ---- */

static bool write_text(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0)
        close(file);
    return ok;
}

/* A user or group has in the namespace the number that it has outside. */
static bool write_map(const char *path, unsigned number)
{
    char text[64];
    snprintf(text, sizeof text, "%u %u 1", number, number);
    return write_text(path, text);
}

/* A mount namespace of its own; who may not have it gets a user namespace, too. */
static bool leave_namespace(building *self)
{
    uid_t user = geteuid();
    gid_t group = getegid();
    self->is_user_namespace = unshare(CLONE_NEWNS) != 0;
    if (self->is_user_namespace &&
        (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || !write_text("/proc/self/setgroups", "deny") ||
         !write_map("/proc/self/uid_map", user) || !write_map("/proc/self/gid_map", group)))
        return fail(self, "this user may not make a namespace (user and mount)", "");
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 ||
           fail(self, "this user may not mount in a namespace", "");
}

/* The new root is the root. */
static bool change_root(building *self, const char *root)
{
    path_text folder;
    if (!getcwd(folder, sizeof folder))
        folder[0] = '\0';
    bool ok = chdir(root) == 0;
    if (ok && syscall(SYS_pivot_root, ".", ".") == 0)
        ok = umount2(".", MNT_DETACH) == 0;
    else
        ok = ok && chroot(".") == 0; /* the root of a system that never left its first one */
    ok = ok && chdir("/") == 0;
    return (ok && (!folder[0] || chdir(folder) == 0)) || fail(self, "entering the new root", root);
}

bool mr_layers_enter(const mr_layers *layers, char why[MR_LAYERS_WHY_BYTES])
{
    building self = {.layers = layers, .why = why};
    path_text root;
    mode_t mask = umask(0);
    bool ok = leave_namespace(&self) &&
              (place(&self, "root", "/", root) || fail(&self, "naming", "/")) && prepare(&self) &&
              cover(&self, "/") &&
              (!layers->seen || bind(&self, layers->seen, false) ||
               fail(&self, "mounting", layers->seen)) &&
              (!layers->told || fflush(layers->told) == 0) && change_root(&self, root);
    umask(mask);
    return ok;
}
