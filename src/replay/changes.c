/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _GNU_SOURCE /* lgetxattr, major */

#include "changes.h"

#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, TEXT_MOST = 16384, BLOCK = 65536 };

const char *mr_change_name(mr_change_kind kind)
{
    static const char *const names[] = {"created", "changed", "removed"};
    return names[kind];
}

void mr_changes_free(mr_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        free(changes->items[i].path);
        free(changes->items[i].text);
    }
    free(changes->items);
    *changes = (mr_changes){.items = NULL};
}

typedef struct reading {
    mr_changes *changes;
    const char *upper, *real;
    mr_error *error;
} reading;

/* The name of a file under both folders. */
typedef struct place {
    char name[PATH_BYTES]; /* "/tmp/x"; "" is the folder itself */
    char upper[2 * PATH_BYTES], real[2 * PATH_BYTES];
    struct stat now, before;
    bool is_there_now, was_there;
} place;

static mr_status no_memory(const reading *self)
{
    return mr_error_memory(self->error, "reading what the program wrote");
}

static mr_status failed(const reading *self, const char *path)
{
    return mr_error_set(self->error, MR_ERR_IO, path, 0, "cannot read what the program wrote: %s",
                        strerror(errno));
}

static void look(const reading *self, const char *name, place *at)
{
    snprintf(at->name, sizeof at->name, "%s", name);
    snprintf(at->upper, sizeof at->upper, "%s%s", self->upper, name);
    snprintf(at->real, sizeof at->real, "%s%s", strcmp(self->real, "/") == 0 ? "" : self->real,
             *name ? name : "/");
    at->is_there_now = lstat(at->upper, &at->now) == 0;
    at->was_there = lstat(at->real, &at->before) == 0;
}

/* overlayfs says that a file is gone by a device 0/0 in its place. */
static bool is_whiteout(const struct stat *info)
{
    return S_ISCHR(info->st_mode) && major(info->st_rdev) == 0 && minor(info->st_rdev) == 0;
}

/* Does the folder hide what was in the real one? */
static bool is_opaque(const char *path)
{
    char value[4] = "";
    return (lgetxattr(path, "user.overlay.opaque", value, sizeof value) == 1 ||
            lgetxattr(path, "trusted.overlay.opaque", value, sizeof value) == 1) &&
           value[0] == 'y';
}

/* ---- content ---- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Takes the content into the hash, and its beginning when it is text. */
static bool take_content(const char *path, mr_change *change)
{
    char block[BLOCK];
    FILE *file = fopen(path, "re");
    size_t got;
    bool is_first = true;
    while (file && (got = fread(block, 1, sizeof block, file)) > 0) {
        change->hash = mix(change->hash, block, got);
        size_t most = got < TEXT_MOST ? got : TEXT_MOST;
        if (is_first && !memchr(block, '\0', most))
            change->text = mr_strndup(block, most);
        is_first = false;
    }
    bool ok = file && !ferror(file);
    if (file)
        fclose(file);
    return ok;
}

/* Describes what is there. A file that cannot be read has no content. */
static void describe(const char *path, const struct stat *info, mr_change *change)
{
    char target[PATH_BYTES];
    mode_t mode = info->st_mode;
    change->hash = mix(UINT64_C(0xcbf29ce484222325), &mode, sizeof mode);
    if (S_ISREG(mode) && !take_content(path, change))
        change->hash++;
    if (S_ISLNK(mode)) {
        ssize_t length = readlink(path, target, sizeof target);
        change->hash = mix(change->hash, target, length > 0 ? (size_t)length : 0);
    }
}

/* ---- the walk ---- */

static mr_status add(const reading *self, const place *at, mr_change_kind kind, bool is_folder,
                     mr_change *change)
{
    mr_changes *changes = self->changes;
    size_t length = strlen(at->real);
    change->kind = kind;
    change->path = mr_malloc(length + 2, 0);
    if (!change->path || !mr_grow((void **)&changes->items, &changes->capacity, changes->count + 1,
                                  sizeof *changes->items)) {
        free(change->path);
        free(change->text);
        return no_memory(self);
    }
    memcpy(change->path, at->real, length);
    memcpy(change->path + length, is_folder ? "/" : "", is_folder ? 2 : 1);
    changes->items[changes->count++] = *change;
    return MR_OK;
}

static mr_status visit(const reading *self, const char *name);

/* The program may have made a folder of the layer, which is ours, so that it cannot be read. */
static DIR *open_folder(const char *path, bool is_layer)
{
    DIR *entries = opendir(path);
    return !entries && errno == EACCES && is_layer && chmod(path, 0700) == 0 ? opendir(path)
                                                                             : entries;
}

/* Calls `visit_one` for each entry of a folder. */
static mr_status each(const reading *self, const char *folder, const char *name,
                      mr_status (*visit_one)(const reading *self, const char *name))
{
    char inner[PATH_BYTES];
    mr_status status = MR_OK;
    DIR *entries = open_folder(folder, visit_one == visit);
    if (!entries)
        return errno == EACCES ? MR_OK : failed(self, folder);
    struct dirent *entry;
    while (!status && (entry = readdir(entries))) {
        const char *last = entry->d_name;
        if (strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
            continue;
        int length = snprintf(inner, sizeof inner, "%s/%s", name, last);
        errno = ENAMETOOLONG;
        status = length > 0 && (size_t)length < sizeof inner ? visit_one(self, inner)
                                                             : failed(self, folder);
    }
    closedir(entries);
    return status;
}

/* What is gone, if it was there. */
static mr_status add_removed(const reading *self, const place *at)
{
    mr_change change = {.hash = 0};
    return at->was_there ? add(self, at, MR_CHANGE_REMOVED, S_ISDIR(at->before.st_mode), &change)
                         : MR_OK;
}

/* An entry of the real folder, which an opaque folder hides. */
static mr_status visit_hidden(const reading *self, const char *name)
{
    place at = {.name = ""};
    look(self, name, &at);
    return at.is_there_now ? MR_OK : add_removed(self, &at);
}

static mr_status visit_folder(const reading *self, const place *at)
{
    mr_change change = {.hash = 0};
    bool was_folder = at->was_there && S_ISDIR(at->before.st_mode);
    mr_status status = MR_OK;
    if (!was_folder)
        status =
            add(self, at, at->was_there ? MR_CHANGE_CHANGED : MR_CHANGE_CREATED, true, &change);
    if (!status && was_folder && is_opaque(at->upper))
        status = each(self, at->real, at->name, visit_hidden);
    return status ? status : each(self, at->upper, at->name, visit);
}

static mr_status visit(const reading *self, const char *name)
{
    place at = {.name = ""};
    look(self, name, &at);
    mr_change change = {.hash = 0}, before = {.hash = 0};
    if (!at.is_there_now)
        return failed(self, at.upper);
    if (S_ISDIR(at.now.st_mode))
        return visit_folder(self, &at);
    if (is_whiteout(&at.now))
        return add_removed(self, &at);
    describe(at.upper, &at.now, &change);
    if (at.was_there)
        describe(at.real, &at.before, &before);
    free(before.text);
    if (at.was_there && before.hash == change.hash) {
        free(change.text);
        return MR_OK;
    }
    return add(self, &at, at.was_there ? MR_CHANGE_CHANGED : MR_CHANGE_CREATED, false, &change);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const mr_change *)a)->path, ((const mr_change *)b)->path);
}

mr_status mr_changes_read(mr_changes *changes, const char *upper, const char *real, mr_error *error)
{
    const reading self = {changes, upper, real, error};
    mr_status status = each(&self, upper, "", visit);
    if (changes->count)
        qsort(changes->items, changes->count, sizeof *changes->items, by_path);
    return status;
}

/* ---- two runs ---- */

static const mr_change *find(const mr_changes *changes, const char *path)
{
    const mr_change key = {.path = (char *)path};
    return changes->count ? bsearch(&key, changes->items, changes->count, sizeof key, by_path)
                          : NULL;
}

/* The next file that one of them has, and its path: NULL where the other alone has it. */
static const char *next(const mr_changes *a, const mr_changes *b, size_t *i, size_t *j,
                        const mr_change **left, const mr_change **right)
{
    int order = *i == a->count   ? 1
                : *j == b->count ? -1
                                 : strcmp(a->items[*i].path, b->items[*j].path);
    const char *path = order <= 0 ? a->items[*i].path : b->items[*j].path;
    *left = order <= 0 ? &a->items[(*i)++] : NULL;
    *right = order >= 0 ? &b->items[(*j)++] : NULL;
    return path;
}

static bool is_same(const mr_change *left, const mr_change *right)
{
    return left && right && left->kind == right->kind && left->hash == right->hash;
}

bool mr_changes_note_varying(mr_changes *changes, const mr_changes *again)
{
    size_t count = changes->count, i = 0, j = 0;
    const mr_changes old = {.items = changes->items, .count = count};
    mr_changes more = {.items = NULL};
    const mr_change *left, *right;
    bool ok = true;
    while (ok && (i < old.count || j < again->count)) {
        const char *path = next(&old, again, &i, &j, &left, &right);
        if (left) {
            changes->items[i - 1].varies = !is_same(left, right);
            continue;
        }
        ok = mr_grow((void **)&more.items, &more.capacity, more.count + 1, sizeof *more.items);
        if (ok)
            more.items[more.count++] =
                (mr_change){.path = mr_strndup(path, strlen(path)), .varies = true};
        ok = ok && more.items[more.count - 1].path;
    }
    ok = ok && mr_grow((void **)&changes->items, &changes->capacity, count + more.count,
                       sizeof *changes->items);
    if (!ok) {
        mr_changes_free(&more);
        return false;
    }
    for (size_t k = 0; k < more.count; k++)
        changes->items[changes->count++] = more.items[k];
    free(more.items);
    if (changes->count)
        qsort(changes->items, changes->count, sizeof *changes->items, by_path);
    return true;
}

const char *mr_changes_differ(const mr_changes *a, const mr_changes *b, const mr_changes *varying,
                              const mr_change **left, const mr_change **right)
{
    size_t i = 0, j = 0;
    while (i < a->count || j < b->count) {
        const char *path = next(a, b, &i, &j, left, right);
        const mr_change *known = find(varying, path);
        if (!is_same(*left, *right) && !(known && known->varies))
            return path;
    }
    return NULL;
}
