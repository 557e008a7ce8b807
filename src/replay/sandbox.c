/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _GNU_SOURCE /* mkdtemp, lsetxattr */

#include "sandbox.h"

#include "base/memory.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char *const parts[] = {"files", "work", "lower", "root"};
enum { FILES, PARTS = sizeof parts / sizeof *parts };

typedef char part_path[MR_SANDBOX_PATH_BYTES + 256];

static void part_of(const mr_sandbox *self, int part, part_path path)
{
    snprintf(path, sizeof(part_path), "%s/%s", self->run, parts[part]);
}

/* ---- a place for the layers ---- */

/* Can layers lie in the folder? They cannot where it is in such a layer itself, and need extended attributes. */
static bool is_fit(mr_sandbox *self)
{
    struct statfs info;
    if (statfs(self->folder, &info) != 0 || info.f_type == OVERLAYFS_SUPER_MAGIC)
        return false;
    self->user_xattr = lsetxattr(self->folder, "user.maxrace", "y", 1, 0) == 0;
    if (self->user_xattr)
        lremovexattr(self->folder, "user.maxrace");
    bool trusted =
        !self->user_xattr && lsetxattr(self->folder, "trusted.overlay.maxrace", "y", 1, 0) == 0;
    if (trusted)
        lremovexattr(self->folder, "trusted.overlay.maxrace");
    return self->user_xattr || trusted;
}

static bool try_place(mr_sandbox *self, const char *place)
{
    if (!place || place[0] != '/')
        return false;
    snprintf(self->folder, sizeof self->folder, "%.2900s/maxrace-sandbox-XXXXXX", place);
    bool is_made = mkdtemp(self->folder) != NULL;
    if (is_made && is_fit(self))
        return true;
    if (is_made)
        rmdir(self->folder);
    self->folder[0] = '\0';
    return false;
}

static mr_status find_place(mr_sandbox *self, mr_error *error)
{
    const char *const places[] = {getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (try_place(self, places[i]))
            return MR_OK;
    return mr_error_set(
        error, MR_ERR_IO, NULL, 0,
        "--sandbox: no folder for temporary files takes an upper layer of overlayfs "
        "(it needs extended attributes, and must not be overlayfs itself); set TMPDIR to "
        "one on a disk or a tmpfs");
}

/* The folder that the user keeps: a new one, or an empty one. */
static mr_status take_place(mr_sandbox *self, const char *kept, mr_error *error)
{
    char whole[4096];
    if (mkdir(kept, 0777) != 0 && errno != EEXIST)
        return mr_error_set(error, MR_ERR_IO, kept, 0, "cannot make this folder: %s",
                            strerror(errno));
    if (!realpath(kept, whole) || strlen(whole) >= sizeof self->folder)
        return mr_error_set(error, MR_ERR_IO, kept, 0, "cannot use this folder: %s",
                            strerror(errno));
    self->is_kept = true;
    if (!mr_tree_is_empty(whole))
        return mr_error_set(error, MR_ERR_IO, kept, 0,
                            "this folder is not empty; name a new or an empty one");
    snprintf(self->folder, sizeof self->folder, "%.*s", MR_SANDBOX_PATH_BYTES - 1, whole);
    return is_fit(self)
               ? MR_OK
               : mr_error_set(error, MR_ERR_IO, kept, 0,
                              "overlayfs cannot write in this folder (it needs extended "
                              "attributes, and must not be overlayfs itself); name another one");
}

/* ---- one run ---- */

mr_status mr_sandbox_begin(mr_sandbox *self, const char *name, mr_error *error)
{
    part_path path;
    snprintf(self->run, sizeof self->run, "%s/%.100s", self->folder, name);
    bool ok = mr_tree_remove(self->run) && mkdir(self->run, 0755) == 0;
    for (int i = 0; ok && i < PARTS; i++) {
        part_of(self, i, path);
        ok = mkdir(path, 0755) == 0;
    }
    return ok ? MR_OK
              : mr_error_set(error, MR_ERR_IO, self->run, 0, "cannot make this folder: %s",
                             strerror(errno));
}

static bool enter(const mr_sandbox *self, FILE *told, char why[MR_LAYERS_WHY_BYTES])
{
    const mr_layers layers = {.folder = self->run,
                              .seen = self->seen[0] ? self->seen : NULL,
                              .works_in = self->works_in[0] ? self->works_in : NULL,
                              .mounts = &self->mounts,
                              .user_xattr = self->user_xattr,
                              .told = told};
    return mr_layers_enter(&layers, why);
}

bool mr_sandbox_enter(const mr_sandbox *self, char why[MR_LAYERS_WHY_BYTES])
{
    return enter(self, NULL, why);
}

mr_status mr_sandbox_end(mr_sandbox *self, mr_changes *changes, mr_error *error)
{
    part_path path;
    part_of(self, FILES, path);
    mr_status status = changes ? mr_changes_read(changes, path, "/", error) : MR_OK;
    if (self->is_kept)
        mr_tree_prune(path, "");
    for (int i = FILES + 1; i < PARTS; i++) {
        part_of(self, i, path);
        mr_tree_remove(path);
    }
    if (!self->is_kept)
        mr_tree_remove(self->run);
    return status;
}

/* ---- the trial ---- */

static bool take_line(mr_sandbox *self, const char *line)
{
    char *copy = mr_strndup(line, strcspn(line, "\n"));
    if (!copy || !mr_grow((void **)&self->read_only, &self->read_only_capacity,
                          self->read_only_count + 1, sizeof *self->read_only)) {
        free(copy);
        return false;
    }
    self->read_only[self->read_only_count++] = copy;
    return true;
}

/* In the process that tries: tells what can only be read, or, after a '!', what is missing. */
static void tell(const mr_sandbox *self, int to)
{
    char why[MR_LAYERS_WHY_BYTES] = "";
    FILE *told = fdopen(to, "w");
    if (told && !enter(self, told, why))
        fprintf(told, "!%s\n", why);
    _exit(told && fclose(told) == 0 ? 0 : 1);
}

/* Hears what that process tells. */
static mr_status hear(mr_sandbox *self, int from, mr_error *error)
{
    char *line = NULL;
    size_t room = 0;
    FILE *told = fdopen(from, "r");
    mr_status status = told ? MR_OK : mr_error_memory(error, "trying the sandbox");
    while (!status && getline(&line, &room, told) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '!')
            status = mr_error_set(
                error, MR_ERR_IO, NULL, 0,
                "--sandbox: %.400s; it needs namespaces and overlayfs (Linux 5.11 or later; "
                "kernel.unprivileged_userns_clone, or in a container --privileged), or do without "
                "--sandbox",
                line + 1);
        else if (!take_line(self, line))
            status = mr_error_memory(error, "trying the sandbox");
    }
    free(line);
    if (told)
        fclose(told);
    else
        close(from);
    return status;
}

static mr_status try(mr_sandbox *self, mr_error *error)
{
    int ends[2];
    mr_status status = mr_sandbox_begin(self, "trial", error);
    if (!status && pipe2(ends, O_CLOEXEC) != 0)
        status = mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot make a pipe: %s", strerror(errno));
    if (status)
        return status;
    fflush(NULL);
    pid_t process = fork();
    if (process == 0)
        tell(self, ends[1]);
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot start a process: %s",
                            strerror(errno));
    }
    status = hear(self, ends[0], error);
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR)
        continue;
    mr_tree_remove(self->run);
    return status;
}

/* Can the program write where it runs? */
static mr_status check_place(const mr_sandbox *self, const char *works_in, mr_error *error)
{
    char ours[4096];
    if (!works_in)
        works_in = getcwd(ours, sizeof ours);
    for (size_t i = 0; works_in && i < self->read_only_count; i++) {
        const char *folder = self->read_only[i];
        size_t length = strlen(folder);
        if (strncmp(works_in, folder, length) == 0 &&
            (works_in[length] == '/' || !works_in[length]))
            return mr_error_set(
                error, MR_ERR_IO, folder, 0,
                "--sandbox: overlayfs cannot lie over this folder, in which the program "
                "runs; record it in a folder on another file system");
    }
    return MR_OK;
}

mr_status mr_sandbox_open(mr_sandbox *self, const char *kept, const char *seen,
                          const char *works_in, mr_error *error)
{
    *self = (mr_sandbox){.folder = ""};
    snprintf(self->seen, sizeof self->seen, "%s", seen ? seen : "");
    snprintf(self->works_in, sizeof self->works_in, "%s", works_in ? works_in : "");
    if (!mr_mounts_read(&self->mounts, "/proc/self/mountinfo", true))
        return mr_error_set(error, MR_ERR_IO, "/proc/self/mountinfo", 0, "cannot read: %s",
                            strerror(errno));
    mr_status status = kept ? take_place(self, kept, error) : find_place(self, error);
    if (!status)
        status = try(self, error);
    return status ? status : check_place(self, works_in, error);
}

void mr_sandbox_close(mr_sandbox *self)
{
    if (self->folder[0] && !self->is_kept)
        mr_tree_remove(self->folder);
    mr_mounts_free(&self->mounts);
    for (size_t i = 0; i < self->read_only_count; i++)
        free(self->read_only[i]);
    free(self->read_only);
    *self = (mr_sandbox){.folder = ""};
}
