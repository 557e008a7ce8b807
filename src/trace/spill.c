#define _DEFAULT_SOURCE /* madvise, MAP_ANONYMOUS */
#include "spill.h"

#include "base/assert.h"
#include "base/huge.h"
#include "base/memory.h"
#include "pager.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* Arrays that are smaller stay in memory. */
enum { LEAST_FILE_BYTES = 1 << 20 };

enum { FIRST_COUNT = 16 };

/* The file systems that keep files in memory (linux/magic.h). */
#define TMPFS 0x01021994ul
#define RAMFS 0x858458f6ul

bool mr_spill_limit(mr_spill *spill, uint64_t limit_bytes, const char *dir)
{
    const char *temporary = getenv("TMPDIR");
    if (!limit_bytes)
        return true;
    if (!dir || !*dir)
        dir = temporary && *temporary ? temporary : "/var/tmp";
    spill->dir = mr_strndup(dir, strlen(dir));
    spill->limit_bytes = spill->dir ? limit_bytes : 0;
    return spill->dir != NULL;
}

/* ---- sizes ---- */

static size_t bytes_of(const mr_spill_array *array)
{
    return array->count * array->element_bytes;
}

/* What the arrays may take of memory: two fifths of the limit. What a checker derives of a trace that just fits takes 15 %
 * then, names and values may take as much, and windows need the rest. */
static uint64_t most_bytes(const mr_spill *spill)
{
    return spill->limit_bytes / 5 * 2;
}

/* May the array be in memory, beside the others, with `count` elements? */
static bool fits(const mr_spill *spill, size_t slot, size_t count)
{
    uint64_t bytes = (uint64_t)count * spill->arrays[slot].element_bytes;
    if (!spill->limit_bytes || bytes < LEAST_FILE_BYTES)
        return true;
    if (spill->pager)
        return false;
    for (size_t i = 0; i < MR_SPILL_ARRAYS; i++)
        bytes += i == slot || spill->arrays[i].is_mapped ? 0 : bytes_of(&spill->arrays[i]);
    return bytes <= most_bytes(spill);
}

/* An eighth more than needed; the needed number itself when an eighth more is too much. */
static size_t with_an_eighth(size_t need)
{
    return need <= SIZE_MAX - need / 8 ? need + need / 8 : need;
}

/* ---- files ---- */

static mr_status failed(const mr_spill *spill, const char *what, int number, mr_error *error)
{
    mr_error_set(error, MR_ERR_IO, spill->dir, 0,
                 "cannot %s the event store, which memory.limit_mb has no room for: %s; "
                 "choose another folder (memory.spill_dir) or a higher limit",
                 what, strerror(number));
    return MR_ERR_IO;
}

static mr_status open_file(const mr_spill *spill, int *file, mr_error *error)
{
    char path[PATH_MAX];
    struct statfs system;
    int length = snprintf(path, sizeof path, "%s/maxrace-XXXXXX", spill->dir);
    if (length < 0 || (size_t)length >= sizeof path)
        return failed(spill, "create a file for", ENAMETOOLONG, error);
    *file = mkstemp(path);
    if (*file < 0)
        return failed(spill, "create a file for", errno, error);
    unlink(path);
    fcntl(*file, F_SETFD, FD_CLOEXEC);
    if (fstatfs(*file, &system) ||
        ((unsigned long)system.f_type != TMPFS && (unsigned long)system.f_type != RAMFS))
        return MR_OK;
    close(*file);
    *file = -1;
    return mr_error_set(error, MR_ERR_IO, spill->dir, 0,
                        "the event store has no room within memory.limit_mb, and this folder is in "
                        "memory, too; choose one on a disk (memory.spill_dir) or a higher limit");
}

/* Takes space for the file from `from` to `to`. A limit on the size of files (ulimit -f) is an
 * error like a full disk. Its signal is held back, because it would end the program that uses the
 * library. Returns errno. */
static int take_space(int file, size_t from, size_t to)
{
    sigset_t signal, old, pending;
    sigemptyset(&signal);
    sigaddset(&signal, SIGXFSZ);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &signal, &old);
    int result;
    do
        result = posix_fallocate(file, (off_t)from, (off_t)(to - from));
    while (result == EINTR);
    if (!sigismember(&pending, SIGXFSZ))
        sigtimedwait(&signal, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return result;
}

/* Maps the array's file with room for `count` elements. The new mapping replaces the old one. */
static mr_status map_file(mr_spill *spill, size_t slot, size_t count, mr_error *error)
{
    mr_spill_array *array = &spill->arrays[slot];
    size_t bytes = count * array->element_bytes;
    MR_ASSERT(count >= array->count && array->file >= 0);
    int number = take_space(array->file, array->is_mapped ? bytes_of(array) : 0, bytes);
    if (number)
        return failed(spill, "take space for", number, error);
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, array->file, 0);
    if (at == MAP_FAILED)
        return failed(spill, "map", errno, error);
    mr_pager_set(spill->pager, slot, at, bytes);
    if (array->is_mapped)
        munmap(array->at, bytes_of(array));
    array->at = at;
    array->count = count;
    array->is_mapped = true;
    return MR_OK;
}

/* Writes to the file instead of copying to a mapping, so that no page is in memory twice. Returns
 * errno. */
static int write_all(int file, const void *memory, size_t bytes)
{
    const char *at = memory;
    for (size_t done = 0; done < bytes;) {
        ssize_t written = pwrite(file, at + done, bytes - done, (off_t)done);
        if (written < 0 && errno != EINTR)
            return errno;
        done += written > 0 ? (size_t)written : 0;
    }
    return 0;
}

static mr_status start_pager(mr_spill *spill, mr_error *error)
{
    if (!spill->pager)
        spill->pager = mr_pager_start(spill->limit_bytes, MR_SPILL_ARRAYS);
    return spill->pager ? MR_OK
                        : mr_error_memory(error, "starting to keep the event store in files");
}

/* Moves an array from memory to a file with room for `count` elements. */
static mr_status move_out(mr_spill *spill, size_t slot, size_t count, mr_error *error)
{
    mr_spill_array *array = &spill->arrays[slot];
    void *memory = array->at;
    size_t bytes = bytes_of(array);
    int number;
    mr_status status = start_pager(spill, error);
    if (!status)
        status = open_file(spill, &array->file, error);
    if (status)
        return status;
    status = map_file(spill, slot, count, error);
    if (status) {
        close(array->file);
        return status;
    }
    number = write_all(array->file, memory, bytes);
    mr_huge_free(memory, bytes);
    return number ? failed(spill, "write", number, error) : MR_OK;
}

/* ---- the arrays ---- */

bool mr_spill_sparse(mr_spill *spill, size_t slot, size_t count, size_t element_bytes)
{
    mr_spill_array *array = &spill->arrays[slot];
    MR_REQUIRE(slot < MR_SPILL_ARRAYS && !array->at && count > 0);
    if (count > SIZE_MAX / element_bytes || mr_memory_fails())
        return false;
    void *at = mmap(NULL, count * element_bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return false;
#ifdef MADV_NOHUGEPAGE
    (void)madvise(at, count * element_bytes, MADV_NOHUGEPAGE); /* a large page is many rows */
#endif
    *array = (mr_spill_array){
        .at = at, .count = count, .element_bytes = element_bytes, .is_mapped = true, .file = -1};
    return true;
}

static mr_status grow_in_memory(mr_spill_array *array, size_t count, mr_error *error)
{
    void *at = NULL;
    if (count <= SIZE_MAX / 2 / array->element_bytes)
        at = mr_huge_resize(array->at, bytes_of(array), count * array->element_bytes);
    if (!at)
        return mr_error_memory(error, "reading the trace");
    array->at = at;
    array->count = count;
    return MR_OK;
}

bool mr_spill_dense(mr_spill *spill, size_t slot, size_t count, size_t element_bytes)
{
    mr_spill_array *array = &spill->arrays[slot];
    MR_REQUIRE(slot < MR_SPILL_ARRAYS && !array->at && count > 0);
    if (count > SIZE_MAX / 2 / element_bytes)
        return false;
    *array = (mr_spill_array){
        .at = mr_huge_new(count * element_bytes), .count = count, .element_bytes = element_bytes};
    if (!array->at)
        array->count = 0;
    return array->at != NULL;
}

mr_status mr_spill_expect(mr_spill *spill, uint64_t bytes, mr_error *error)
{
    return spill->limit_bytes && bytes > most_bytes(spill) ? start_pager(spill, error) : MR_OK;
}

mr_status mr_spill_reserve(mr_spill *spill, size_t slot, size_t need, size_t element_bytes,
                           mr_error *error)
{
    mr_spill_array *array = &spill->arrays[slot];
    MR_REQUIRE(slot < MR_SPILL_ARRAYS);
    MR_REQUIRE(!array->count || array->element_bytes == element_bytes);
    array->element_bytes = element_bytes;
    if (need <= array->count)
        return MR_OK;
    size_t doubled = array->count < SIZE_MAX / 2 ? 2 * array->count : need;
    doubled = doubled < FIRST_COUNT ? FIRST_COUNT : doubled;
    if (doubled < need)
        doubled = need;
    size_t more = with_an_eighth(need);
    if (!array->is_mapped && fits(spill, slot, doubled))
        return grow_in_memory(array, doubled, error);
    if (!array->is_mapped && fits(spill, slot, more))
        return grow_in_memory(array, more, error);
    if (more > (SIZE_MAX >> 1) / element_bytes)
        return mr_error_memory(error, "reading the trace");
    if (array->is_mapped)
        return map_file(spill, slot, more, error);
    return move_out(spill, slot, more, error);
}

mr_status mr_spill_fit(mr_spill *spill, size_t slot, size_t count, mr_error *error)
{
    mr_spill_array *array = &spill->arrays[slot];
    MR_REQUIRE(count <= array->count || !array->count);
    if (!array->is_mapped && spill->pager && count * array->element_bytes >= LEAST_FILE_BYTES) {
        mr_status status = move_out(spill, slot, array->count, error);
        if (status)
            return status;
    }
    if (!array->is_mapped) {
        void *at = array->at && count < array->count
                       ? mr_huge_resize(array->at, bytes_of(array), count * array->element_bytes)
                       : NULL;
        if (at) { /* a failure only leaves it larger */
            array->at = at;
            array->count = count;
        }
        return MR_OK;
    }
    /* The mapping keeps its size: nothing reads behind the end of the file. */
    if (ftruncate(array->file, (off_t)(count * array->element_bytes)))
        return failed(spill, "shorten a file of", errno, error);
    close(array->file);
    array->file = -1;
    return MR_OK;
}

void mr_spill_look(const mr_spill *spill)
{
    if (spill->pager)
        mr_pager_look(spill->pager);
}

void mr_spill_free(mr_spill *spill)
{
    mr_pager_stop(spill->pager);
    for (size_t i = 0; i < MR_SPILL_ARRAYS; i++) {
        mr_spill_array *array = &spill->arrays[i];
        if (!array->is_mapped) {
            mr_huge_free(array->at, bytes_of(array));
            continue;
        }
        munmap(array->at, bytes_of(array));
        if (array->file >= 0)
            close(array->file);
    }
    free(spill->dir);
    *spill = (mr_spill){0};
}
