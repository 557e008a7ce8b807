/* What a run has changed, from the layer that overlayfs leaves; in what two runs differ; what is mounted. */
/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _XOPEN_SOURCE 700 /* mknod */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "replay/changes.h"
#include "replay/mounts.h"
#include "replay/tree.h"
#include "support/scratch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

typedef struct folders {
    mr_scratch scratch;
    char real[512], layer[512];
} folders;

static void make(folders *self)
{
    mr_scratch_make(&self->scratch);
    mr_scratch_path(&self->scratch, "real", self->real);
    mr_scratch_path(&self->scratch, "layer", self->layer);
    assert_int_equal(mkdir(self->real, 0755), 0);
    assert_int_equal(mkdir(self->layer, 0755), 0);
}

static void clear(folders *self)
{
    assert_true(mr_tree_remove(self->real));
    assert_true(mr_tree_remove(self->layer));
    mr_scratch_remove(&self->scratch);
}

static void in(const char *folder, const char *name, char path[1024])
{
    snprintf(path, 1024, "%s/%s", folder, name);
}

static void put(const char *folder, const char *name, const char *text)
{
    char path[1024];
    in(folder, name, path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void make_folder(const char *folder, const char *name)
{
    char path[1024];
    in(folder, name, path);
    assert_int_equal(mkdir(path, 0755), 0);
}

/* The changes as lines "created NAME", in one text. */
static void read_changes(const folders *self, mr_changes *changes, char text[2048])
{
    mr_error error = {.status = MR_OK};
    size_t used = 0;
    assert_int_equal(mr_changes_read(changes, self->layer, self->real, &error), MR_OK);
    text[0] = '\0';
    for (size_t i = 0; i < changes->count; i++) {
        const mr_change *change = &changes->items[i];
        assert_memory_equal(change->path, self->real, strlen(self->real));
        used += (size_t)snprintf(text + used, 2048 - used, "%s %s\n", mr_change_name(change->kind),
                                 change->path + strlen(self->real) + 1);
    }
}

static void check(const folders *self, const char *expected)
{
    mr_changes changes = {.items = NULL};
    char text[2048];
    read_changes(self, &changes, text);
    assert_string_equal(text, expected);
    mr_changes_free(&changes);
}

static void test_files(void **state)
{
    folders self;
    char path[1024];
    (void)state;
    make(&self);
    check(&self, "");
    put(self.real, "old", "old\n");
    put(self.real, "same", "same\n");
    put(self.real, "mode", "mode\n");
    put(self.layer, "old", "other\n");
    put(self.layer, "same", "same\n"); /* opened for writing, and as before */
    put(self.layer, "mode", "mode\n");
    in(self.layer, "mode", path);
    assert_int_equal(chmod(path, 0600), 0);
    put(self.layer, "new", "");
    in(self.layer, "link", path);
    assert_int_equal(symlink("new", path), 0);
    check(&self, "created link\nchanged mode\ncreated new\nchanged old\n");
    clear(&self);
}

static void test_folders(void **state)
{
    folders self;
    char path[1024];
    (void)state;
    make(&self);
    make_folder(self.real, "both");
    make_folder(self.layer, "both"); /* only because something in it has changed */
    put(self.layer, "both/in", "x");
    make_folder(self.layer, "new");
    put(self.layer, "new/in", "x");
    put(self.real, "file", "x"); /* a folder now */
    make_folder(self.layer, "file");
    in(self.layer, "new", path);
    assert_int_equal(chmod(path, 0), 0); /* as a program may */
    check(&self, "created both/in\nchanged file/\ncreated new/\ncreated new/in\n");
    clear(&self);
}

static void test_removed(void **state)
{
    folders self;
    char path[1024];
    (void)state;
    make(&self);
    put(self.real, "gone", "x");
    in(self.layer, "gone", path);
    if (mknod(path, S_IFCHR | 0600, 0) != 0) {
        clear(&self);
        print_message("nobody can make the mark of a removed file here: %s\n", strerror(errno));
        skip();
    }
    in(self.layer, "never", path); /* made and removed */
    assert_int_equal(mknod(path, S_IFCHR | 0600, 0), 0);
    make_folder(self.real, "tree");
    put(self.real, "tree/gone", "x");
    put(self.real, "tree/kept", "x");
    make_folder(self.layer, "tree");
    put(self.layer, "tree/kept", "x");
    check(&self, "removed gone\n");
    in(self.layer, "tree", path); /* removed, and made anew */
    if (setxattr(path, "user.overlay.opaque", "y", 1, 0) == 0)
        check(&self, "removed gone\nremoved tree/gone\n");
    clear(&self);
}

/* ---- two runs ---- */

static void take(folders *self, mr_changes *changes, const char *a, const char *b)
{
    char text[2048];
    *changes = (mr_changes){.items = NULL};
    if (a)
        put(self->layer, "a", a);
    if (b)
        put(self->layer, "b", b);
    read_changes(self, changes, text);
    assert_true(mr_tree_remove(self->layer));
    assert_int_equal(mkdir(self->layer, 0755), 0);
}

static void test_differ(void **state)
{
    folders self;
    mr_changes one, other, missing, varying;
    const mr_change *left, *right;
    (void)state;
    make(&self);
    take(&self, &one, "1\n", "2\n");
    take(&self, &other, "1\n", "3\n");
    take(&self, &missing, NULL, "2\n");
    const mr_changes none = {.items = NULL};
    assert_null(mr_changes_differ(&one, &one, &none, &left, &right));
    assert_non_null(mr_changes_differ(&one, &other, &none, &left, &right));
    assert_string_equal(left->text, "2\n");
    assert_string_equal(right->text, "3\n");
    assert_non_null(mr_changes_differ(&one, &missing, &none, &left, &right));
    assert_string_equal(left->text, "1\n");
    assert_null(right);
    take(&self, &varying, "1\n", "2\n"); /* b is another one each time, and says nothing */
    assert_true(mr_changes_note_varying(&varying, &other));
    assert_null(mr_changes_differ(&one, &other, &varying, &left, &right));
    assert_non_null(mr_changes_differ(&missing, &one, &varying, &left, &right));
    mr_changes_free(&varying);
    take(&self, &varying, NULL, "2\n"); /* a is there in one of two equal runs */
    assert_true(mr_changes_note_varying(&varying, &one));
    assert_null(mr_changes_differ(&missing, &one, &varying, &left, &right));
    assert_non_null(mr_changes_differ(&one, &other, &varying, &left, &right));
    mr_changes_free(&varying);
    mr_changes_free(&one);
    mr_changes_free(&other);
    mr_changes_free(&missing);
    clear(&self);
}

/* ---- mounts ---- */

static void test_mounts(void **state)
{
    static const char *const lines =
        "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda rw\n"
        "23 22 0:5 / /proc rw - proc proc rw\n"
        "24 22 0:6 / /run rw,nosuid shared:2 master:3 - tmpfs tmpfs rw,size=5\n"
        "25 22 0:7 / /media/a\\040b ro,relatime - iso9660 /dev/sr0 ro\n"
        "26 22 0:8 / /mnt rw - squashfs x ro\n"
        "27 24 0:9 / /run/user rw - tmpfs tmpfs rw\n"
        "28 24 0:9 / /run/user ro - tmpfs tmpfs rw\n";
    static const struct {
        const char *path;
        bool is_kept;
    } expected[] = {{"/", true},           {"/proc", false}, {"/run", true},
                    {"/media/a b", false}, {"/mnt", false},  {"/run/user", false}};
    mr_scratch scratch;
    char path[512];
    mr_mounts mounts = {.items = NULL};
    (void)state;
    mr_scratch_make(&scratch);
    mr_scratch_write(&scratch, "mountinfo", lines, path);
    assert_true(mr_mounts_read(&mounts, path, false));
    assert_int_equal(mounts.count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < mounts.count; i++) {
        const mr_mount *mount = mr_mounts_at(&mounts, expected[i].path);
        assert_non_null(mount);
        assert_int_equal(mount->is_kept, expected[i].is_kept);
    }
    assert_true(mr_mounts_below(&mounts, "/"));
    assert_true(mr_mounts_below(&mounts, "/media"));
    assert_true(mr_mounts_below(&mounts, "/run"));
    assert_false(mr_mounts_below(&mounts, "/mnt"));
    assert_false(mr_mounts_below(&mounts, "/ru"));
    mr_mounts_free(&mounts);
    mr_scratch_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),   cmocka_unit_test(test_folders),
        cmocka_unit_test(test_removed), cmocka_unit_test(test_differ),
        cmocka_unit_test(test_mounts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
