/* Functions that make tables of names, and call the program meanwhile. */
#include "calls.h"

#include <dirent.h>
#include <glob.h>

/*
 * What libc has written the program's functions of scandir see, before it is all there: an entry,
 * or the places of two in the table. So it is logged when they are called.
 */
static __thread struct {
    const void *filter, *compare;
    uintptr_t code;
} seen;

static void log_seen(const void *entry, size_t bytes)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_libc_access(MR_LOG_RANGE_WRITE, entry, bytes, seen.code);
        mr_leave(thread);
    }
}

/* An entry ends with its name: d_reclen may tell of more than a copy has. */
#define ENTRY_BYTES(entry)                                                                         \
    ((size_t)((entry)->d_name - (const char *)(entry)) + text((entry)->d_name))

#define SCANS_FOLDER(name, entry_type)                                                             \
    static int filter_##name(const struct entry_type *entry)                                       \
    {                                                                                              \
        log_seen(entry, ENTRY_BYTES(entry));                                                       \
        return ((int (*)(const struct entry_type *))seen.filter)(entry);                           \
    }                                                                                              \
    static int compare_##name(const struct entry_type **a, const struct entry_type **b)            \
    {                                                                                              \
        log_seen(a, sizeof *a);                                                                    \
        log_seen(b, sizeof *b);                                                                    \
        log_seen(*a, ENTRY_BYTES(*a));                                                             \
        log_seen(*b, ENTRY_BYTES(*b));                                                             \
        return ((int (*)(const struct entry_type **, const struct entry_type **))seen.compare)(a,  \
                                                                                               b); \
    }                                                                                              \
    MR_EXPORT int name(const char *restrict path, struct entry_type ***restrict to,                \
                       int (*filter)(const struct entry_type *),                                   \
                       int (*compare)(const struct entry_type **, const struct entry_type **))     \
    {                                                                                              \
        const uintptr_t code = MR_CALLER;                                                          \
        mr_thread *thread = mr_memory_begin(code);                                                 \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name)(path, to, filter, compare);                                       \
        }                                                                                          \
        in(path, text(path));                                                                      \
        mr_leave(thread);                                                                          \
        __typeof__(seen) outer = seen;                                                             \
        seen.filter = (const void *)filter;                                                        \
        seen.compare = (const void *)compare;                                                      \
        seen.code = code;                                                                          \
        int result = MR_REAL(name)(path, to, filter == NULL ? NULL : filter_##name,                \
                                   compare == NULL ? NULL : compare_##name);                       \
        seen = outer;                                                                              \
        thread = mr_enter();                                                                       \
        if (thread != NULL) {                                                                      \
            for (int i = 0; i < result; i++) {                                                     \
                out((*to)[i], ENTRY_BYTES((*to)[i]));                                              \
            }                                                                                      \
            out_if(result > 0, *to, (size_t)result * sizeof **to);                                 \
            out_if(result >= 0, to, sizeof *to);                                                   \
            mr_leave(thread);                                                                      \
        }                                                                                          \
        return result;                                                                             \
    }
SCANS_FOLDER(scandir, dirent)
SCANS_FOLDER(scandir64, dirent64)
#undef SCANS_FOLDER

/* The table begins with places that the program has asked for. */
#define FINDS_PATHS(name, type)                                                                    \
    MR_EXPORT int name(const char *restrict pattern, int flags, int (*failed)(const char *, int),  \
                       type *restrict to)                                                          \
    {                                                                                              \
        const uintptr_t code = MR_CALLER;                                                          \
        mr_thread *thread = mr_memory_begin(code);                                                 \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name)(pattern, flags, failed, to);                                      \
        }                                                                                          \
        in(pattern, text(pattern));                                                                \
        mr_leave(thread);                                                                          \
        int result = MR_REAL(name)(pattern, flags, failed, to);                                    \
        thread = mr_enter();                                                                       \
        if (thread != NULL) {                                                                      \
            size_t skipped = (flags & GLOB_DOOFFS) != 0 ? to->gl_offs : 0;                         \
            for (size_t i = 0; result == 0 && i < to->gl_pathc; i++) {                             \
                out(to->gl_pathv[skipped + i], text(to->gl_pathv[skipped + i]));                   \
            }                                                                                      \
            out_if(result == 0, to->gl_pathv,                                                      \
                   (skipped + to->gl_pathc + 1) * sizeof *to->gl_pathv);                           \
            out_if(result == 0, to, sizeof *to);                                                   \
            mr_leave(thread);                                                                      \
        }                                                                                          \
        return result;                                                                             \
    }
FINDS_PATHS(glob, glob_t)
FINDS_PATHS(glob64, glob64_t)
#undef FINDS_PATHS
