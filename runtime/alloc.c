/*
 * Memory given and taken, for all of malloc's family, the operators new and delete, and mappings.
 *
 * Blocks of recorded threads come from arena.h. What is asked for inside the runtime, before the
 * recording or in a child comes from glibc (__libc_malloc …), which needs no look-up: malloc is
 * called before anything can be looked up. The operators call malloc inside libstdc++; `caller`
 * lets the block be logged as of who called the operator.
 *
 * A block that is freed stays out of use (quarantine.h).
 */
#include "arena.h"
#include "ignore.h"
#include "inputs.h"
#include "modules.h"
#include "quarantine.h"
#include "real.h"
#include "scheduler.h"
#include "shared_maps.h"
#include "writer.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

/* The version of functions that glibc has had from the start. */
#ifdef __x86_64__
#define FIRST_VERSION "GLIBC_2.2.5"
#else
#define FIRST_VERSION "GLIBC_2.17"
#endif

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *block);

/* `thread` is NULL where the block is not to be logged. */
static void *take(mr_thread *thread, size_t bytes, size_t alignment, bool zeroed)
{
    void *block = thread != NULL ? mr_arena_take(thread->arena, bytes, alignment, zeroed) : NULL;
    return block != NULL    ? block
           : zeroed         ? __libc_calloc(1, bytes)
           : alignment > 16 ? __libc_memalign(alignment, bytes)
                            : __libc_malloc(bytes);
}

static size_t usable(void *block)
{
    static size_t (*real)(void *);
    if (block == NULL) {
        return 0;
    }
    if (mr_arena_has(block)) {
        return mr_arena_usable(block);
    }
    if (real == NULL) { /* glibc's, not that of an allocator that the program is linked with */
        real = (size_t(*)(void *))mr_real_find_version("malloc_usable_size", FIRST_VERSION);
    }
    return real(block);
}

MR_EXPORT size_t malloc_usable_size(void *block)
{
    return usable(block);
}

static void give(void *block)
{
    if (!mr_arena_has(block)) {
        __libc_free(block);
    } else if (mr_self != NULL && mr_self->state == MR_RUNNING) {
        mr_arena_give(mr_self->arena, block);
    } /* else the thread has ended, this is a child, or libc frees it in a call: it is lost */
}

static uintptr_t take_caller(mr_thread *thread, uintptr_t code)
{
    uintptr_t caller = thread->caller;
    thread->caller = 0;
    return caller != 0 ? caller : code;
}

/*
 * The older strings of libstdc++ share their text, as those in std::runtime_error do. Copies are
 * counted in the library. The text comes from this function of it.
 */
static const char *const text_makers[] = {"_ZNSs4_Rep9_S_createEmmRKSaIcE",
                                          "_ZNSbIwSt11char_traitsIwESaIwEE4_Rep9_S_createEmmRKS1_"};
enum { TEXT_MAKERS = sizeof text_makers / sizeof *text_makers, TEXT_MAKER_BYTES = 256 };

static bool is_shared_text(uintptr_t code)
{
    static uintptr_t starts[TEXT_MAKERS];
    static bool known;
    if (!known) {
        known = true;
        for (int i = 0; i < TEXT_MAKERS; i++) {
            starts[i] = (uintptr_t)mr_real_any(text_makers[i]);
        }
    }
    for (int i = 0; i < TEXT_MAKERS; i++) {
        if (starts[i] != 0 && code - starts[i] < TEXT_MAKER_BYTES) {
            return true;
        }
    }
    return false;
}

/* The buffer of a stream is of libc, whatever call is the first to need it: in a replay that may be another thread's. */
static bool is_of_stream(uintptr_t code)
{
    enum { BYTES = 256 };
    static uintptr_t start;
    if (start == 0) {
        start = (uintptr_t)mr_real_any("_IO_file_doallocate");
    }
    return start != 0 && code - start < BYTES;
}

static void *log_given(mr_thread *thread, void *block, size_t bytes, uintptr_t code)
{
    if (thread != NULL) {
        bool by_operator = thread->caller != 0;
        bool is_own = by_operator && is_of_stream(code);
        uintptr_t caller = is_own ? code : take_caller(thread, code);
        if (block != NULL) {
            mr_log_given how =
                by_operator && is_shared_text(caller) ? MR_LOG_GIVEN_COUNTED : MR_LOG_GIVEN_PLAIN;
            /* Who asks for the room of a block uses all of it. */
            size_t own = mr_modules_ask_for_room() ? usable(block) : bytes;
            mr_write_object(MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, block, caller, how, own);
        }
        mr_leave(thread);
    }
    return block;
}

MR_EXPORT void *malloc(size_t bytes)
{
    mr_thread *thread = mr_enter();
    return log_given(thread, take(thread, bytes, 0, false), bytes, MR_CALLER);
}

MR_EXPORT void *calloc(size_t count, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    mr_thread *thread = mr_enter();
    return log_given(thread, take(thread, all, 0, true), all, MR_CALLER);
}

static void log_taken(void *block, mr_log_taken how, uintptr_t code)
{
    mr_write_object(MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, block, code, how, usable(block));
}

/* A block is released; false: glibc is to free it. */
static bool keep_freed(void *block, uintptr_t code)
{
    if (mr_quarantine_has(block)) {
        log_taken(block, MR_LOG_TAKEN_AGAIN, code);
        return true;
    }
    if (mr_ignores_writes(mr_self)) {
        log_taken(block, MR_LOG_TAKEN_UNSEEN, code);
        return false;
    }
    bool kept = mr_quarantine_fits(usable(block));
    log_taken(block, kept ? MR_LOG_TAKEN_KEPT : MR_LOG_TAKEN_GONE, code);
    if (kept) {
        mr_quarantine_put(mr_self->arena, block, usable(block));
    }
    return kept;
}

/* A small block that has to move: as by malloc and free, so that the old one is kept. */
static void *move(mr_thread *thread, void *block, size_t before, size_t bytes, uintptr_t code)
{
    void *after = take(thread, bytes, 0, false);
    if (after != NULL) {
        __builtin_memcpy(after, block, before < bytes ? before : bytes);
        if (!keep_freed(block, code)) {
            give(block);
        }
    }
    return log_given(thread, after, bytes, code);
}

/* A block that is not known to the quarantine gets another size, here or elsewhere. */
static void *resize(mr_thread *thread, void *block, size_t before, size_t bytes)
{
    if (block == NULL) {
        return take(thread, bytes, 0, false);
    }
    if (!mr_arena_has(block)) {
        return __libc_realloc(block, bytes);
    }
    if (bytes != 0 && mr_arena_resize(block, bytes)) {
        return block;
    }
    void *after = bytes != 0 ? take(thread, bytes, 0, false) : NULL;
    if (after != NULL && (bytes < before || !mr_arena_move(after, block, before))) {
        __builtin_memcpy(after, block, bytes < before ? bytes : before);
    }
    if (after != NULL || bytes == 0) {
        give(block);
    }
    return after;
}

MR_EXPORT void *realloc(void *block, size_t bytes)
{
    enum { MOVED_MAX = 4096 };
    mr_thread *thread = mr_enter();
    size_t before = usable(block);
    if (thread == NULL) {
        return resize(NULL, block, before, bytes);
    }
    if (block != NULL && (mr_quarantine_has(block) || (bytes != 0 && before <= MOVED_MAX))) {
        return move(thread, block, before, bytes, take_caller(thread, MR_CALLER));
    }
    void *after = resize(thread, block, before, bytes);
    /* Who reads the pointer to a block that stays finds it there, before and after: there is no access of what is
     * freed. Its life ends by the next one, without a free. */
    if (block != NULL && after != block && (after != NULL || bytes == 0)) {
        mr_write_object(MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, block, MR_CALLER, MR_LOG_TAKEN_GONE,
                        before);
    }
    return log_given(thread, after, bytes, MR_CALLER);
}

MR_EXPORT void *reallocarray(void *block, size_t count, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, all);
}

MR_EXPORT void free(void *block)
{
    mr_thread *thread = block != NULL ? mr_enter() : NULL;
    if (thread == NULL) {
        if (block != NULL) {
            give(block);
        }
        return;
    }
    if (!keep_freed(block, take_caller(thread, MR_CALLER))) {
        give(block);
    }
    mr_leave(thread);
}

MR_EXPORT void *memalign(size_t alignment, size_t bytes)
{
    mr_thread *thread = mr_enter();
    return log_given(thread, take(thread, bytes, alignment, false), bytes, MR_CALLER);
}

MR_EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
    mr_thread *thread = mr_enter();
    return log_given(thread, take(thread, bytes, alignment, false), bytes, MR_CALLER);
}

MR_EXPORT void *valloc(size_t bytes)
{
    mr_thread *thread = mr_enter();
    return log_given(thread, take(thread, bytes, 4096, false), bytes, MR_CALLER);
}

MR_EXPORT void *pvalloc(size_t bytes)
{
    mr_thread *thread = mr_enter();
    size_t whole = (bytes + 4095) & ~(size_t)4095;
    return log_given(thread, take(thread, whole, 4096, false), whole, MR_CALLER);
}

MR_EXPORT int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) {
        return EINVAL;
    }
    mr_thread *thread = mr_enter();
    int saved_errno = errno;
    void *result = log_given(thread, take(thread, bytes, alignment, false), bytes, MR_CALLER);
    errno = saved_errno;
    if (result == NULL) {
        return ENOMEM;
    }
    *block = result;
    return 0;
}

/* The operators: parameters and arguments as the name (Itanium ABI) says. */
#define DEFINE_NEW(name, parameters, arguments)                                                    \
    MR_EXPORT void *name parameters;                                                               \
    void *name parameters                                                                          \
    {                                                                                              \
        if (mr_self != NULL) {                                                                     \
            mr_self->caller = MR_CALLER;                                                           \
        }                                                                                          \
        return MR_REAL(name) arguments;                                                            \
    }
DEFINE_NEW(_Znwm, (size_t bytes), (bytes))
DEFINE_NEW(_Znam, (size_t bytes), (bytes))
DEFINE_NEW(_ZnwmRKSt9nothrow_t, (size_t bytes, const void *tag), (bytes, tag))
DEFINE_NEW(_ZnamRKSt9nothrow_t, (size_t bytes, const void *tag), (bytes, tag))
DEFINE_NEW(_ZnwmSt11align_val_t, (size_t bytes, size_t alignment), (bytes, alignment))
DEFINE_NEW(_ZnamSt11align_val_t, (size_t bytes, size_t alignment), (bytes, alignment))
DEFINE_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t bytes, size_t alignment, const void *tag),
           (bytes, alignment, tag))
DEFINE_NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t bytes, size_t alignment, const void *tag),
           (bytes, alignment, tag))
#undef DEFINE_NEW

#define DEFINE_DELETE(name, parameters, arguments)                                                 \
    MR_EXPORT void name parameters;                                                                \
    void name parameters                                                                           \
    {                                                                                              \
        if (mr_self != NULL && block != NULL) {                                                    \
            mr_self->caller = MR_CALLER;                                                           \
        }                                                                                          \
        MR_REAL(name) arguments;                                                                   \
    }
DEFINE_DELETE(_ZdlPv, (void *block), (block))
DEFINE_DELETE(_ZdaPv, (void *block), (block))
DEFINE_DELETE(_ZdlPvm, (void *block, size_t bytes), (block, bytes))
DEFINE_DELETE(_ZdaPvm, (void *block, size_t bytes), (block, bytes))
DEFINE_DELETE(_ZdlPvRKSt9nothrow_t, (void *block, const void *tag), (block, tag))
DEFINE_DELETE(_ZdaPvRKSt9nothrow_t, (void *block, const void *tag), (block, tag))
DEFINE_DELETE(_ZdlPvSt11align_val_t, (void *block, size_t alignment), (block, alignment))
DEFINE_DELETE(_ZdaPvSt11align_val_t, (void *block, size_t alignment), (block, alignment))
DEFINE_DELETE(_ZdlPvmSt11align_val_t, (void *block, size_t bytes, size_t alignment),
              (block, bytes, alignment))
DEFINE_DELETE(_ZdaPvmSt11align_val_t, (void *block, size_t bytes, size_t alignment),
              (block, bytes, alignment))
#undef DEFINE_DELETE

static void *log_mapped(mr_thread *thread, void *at, size_t bytes, uintptr_t code)
{
    if (thread != NULL) {
        if (at != MAP_FAILED) {
            mr_write_object(MR_LOG_GIVEN, MR_LOG_MEMORY_MAP, at, code, 0, bytes);
        }
        mr_leave(thread);
    }
    return at;
}

/* Where a mapping is to be that the program leaves to the kernel; NULL: where the kernel likes. */
static void *place(mr_thread *thread, const void *at, size_t bytes, int flags)
{
    const int SPECIAL = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT | MAP_HUGETLB | MAP_GROWSDOWN;
    return thread == NULL || at != NULL || (flags & SPECIAL) != 0
               ? NULL
               : mr_arena_map(thread->arena, bytes);
}

static void tell_unfed(const mr_thread *thread, int flags)
{
    if (thread != NULL && (flags & MAP_ANONYMOUS) == 0) {
        mr_inputs_unfed((flags & MAP_SHARED) != 0 ? MR_INPUTS_UNFED_SHARED_MEMORY
                                                  : MR_INPUTS_UNFED_MAPPED_FILE);
    }
}

/* The caller is busy. */
static void note_shared(int flags, int fd, const mr_shared_map *map, uintptr_t code)
{
    mr_shared_file file;
    if ((flags & MAP_TYPE) != MAP_PRIVATE && (flags & MAP_ANONYMOUS) == 0 &&
        mr_shared_file_of(fd, &file)) {
        mr_shared_maps_add(&file, map, code);
    }
}

#define MAPS(name, offset_type)                                                                    \
    MR_EXPORT void *name(void *at, size_t bytes, int protection, int flags, int fd,                \
                         offset_type offset)                                                       \
    {                                                                                              \
        mr_thread *thread = mr_enter();                                                            \
        void *wanted = place(thread, at, bytes, flags), *result = MAP_FAILED;                      \
        tell_unfed(thread, flags);                                                                 \
        if (wanted != NULL) {                                                                      \
            result =                                                                               \
                MR_REAL(name)(wanted, bytes, protection, flags | MAP_FIXED_NOREPLACE, fd, offset); \
            if (result == MAP_FAILED) {                                                            \
                mr_arena_unmapped(thread->arena, wanted, bytes);                                   \
            }                                                                                      \
        }                                                                                          \
        if (result == MAP_FAILED) {                                                                \
            result = MR_REAL(name)(at, bytes, protection, flags, fd, offset);                      \
        }                                                                                          \
        if (thread != NULL && result != MAP_FAILED) {                                              \
            mr_shared_maps_replace((uintptr_t)result, bytes, MR_CALLER);                           \
            mr_write_object(MR_LOG_GIVEN, MR_LOG_MEMORY_MAP, result, MR_CALLER, 0, bytes);         \
            note_shared(flags, fd, &(mr_shared_map){(uintptr_t)result, bytes, offset}, MR_CALLER); \
        }                                                                                          \
        if (thread != NULL) {                                                                      \
            mr_leave(thread);                                                                      \
        }                                                                                          \
        return result;                                                                             \
    }
MAPS(mmap, off_t)
MAPS(mmap64, off64_t)
#undef MAPS

MR_EXPORT int munmap(void *at, size_t bytes)
{
    mr_thread *thread = mr_enter();
    int status = MR_REAL(munmap)(at, bytes);
    if (thread != NULL) {
        if (status == 0) {
            bool stays = mr_shared_maps_remove((uintptr_t)at, bytes, MR_CALLER);
            mr_write_object(MR_LOG_TAKEN, MR_LOG_MEMORY_MAP, at, MR_CALLER, 0, stays ? 0 : bytes);
            if (!stays) {
                mr_arena_unmapped(thread->arena, at, bytes);
            }
        }
        mr_leave(thread);
    }
    return status;
}

/* A mapping in the arena moves to another place in it when it has no room where it is. */
static void *remap(mr_thread *thread, void *at, size_t before, size_t bytes, int flags)
{
    if (bytes <= mr_arena_room(at)) {
        return MR_REAL(mremap)(at, before, bytes, flags & ~MREMAP_MAYMOVE);
    }
    void *wanted = (flags & MREMAP_MAYMOVE) != 0 ? mr_arena_map(thread->arena, bytes) : NULL;
    if (wanted == NULL) {
        return MAP_FAILED;
    }
    void *result = MR_REAL(mremap)(at, before, bytes, flags | MREMAP_FIXED, wanted);
    if (result == MAP_FAILED) {
        mr_arena_unmapped(thread->arena, wanted, bytes);
    }
    return result;
}

/* A mapping got longer or shorter where it is. That concerns nobody who accesses the bytes that it had, and has. */
static void log_resized(void *at, size_t before, size_t bytes, bool stays, uintptr_t code)
{
    char *end = (char *)at + (before < bytes ? before : bytes);
    if (bytes > before) {
        mr_write_object(MR_LOG_GIVEN, MR_LOG_MEMORY_MAP, end, code, 0, bytes - before);
    } else {
        mr_write_object(MR_LOG_TAKEN, MR_LOG_MEMORY_MAP, end, code, 0, stays ? 0 : before - bytes);
    }
}

MR_EXPORT void *mremap(void *at, size_t before, size_t bytes, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    void *wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(arguments, void *) : NULL;
    va_end(arguments);
    mr_thread *thread = mr_enter();
    bool is_ours = thread != NULL && (flags & ~MREMAP_MAYMOVE) == 0 && mr_arena_room(at) != 0;
    void *result = is_ours ? remap(thread, at, before, bytes, flags) : MAP_FAILED;
    if (result == MAP_FAILED) {
        result = MR_REAL(mremap)(at, before, bytes, flags, wanted);
    }
    if (thread != NULL && result != MAP_FAILED) {
        bool stays =
            mr_shared_maps_move((uintptr_t)at, before, (uintptr_t)result, bytes, MR_CALLER);
        if (result == at) {
            log_resized(at, before, bytes, stays, MR_CALLER);
            mr_leave(thread);
            return result;
        }
        mr_write_object(MR_LOG_TAKEN, MR_LOG_MEMORY_MAP, at, MR_CALLER, 0, stays ? 0 : before);
        if (is_ours && !stays) {
            mr_arena_unmapped(thread->arena, at, before);
        }
    }
    return log_mapped(thread, result, bytes, MR_CALLER);
}

/* Memory of a segment has no life. */
MR_EXPORT void *shmat(int segment, const void *at, int flags)
{
    mr_thread *thread = mr_enter();
    struct shmid_ds about;
    void *result = MR_REAL(shmat)(segment, at, flags);
    if (thread != NULL) {
        if (result != MAP_FAILED && MR_REAL(shmctl)(segment, IPC_STAT, &about) == 0) {
            mr_shared_map map = {(uintptr_t)result, about.shm_segsz, 0};
            mr_shared_maps_replace(map.at, map.bytes, MR_CALLER);
            mr_shared_maps_add(&(mr_shared_file){0, (ino_t)segment}, &map, MR_CALLER);
        }
        mr_leave(thread);
    }
    return result;
}

MR_EXPORT int shmdt(const void *at)
{
    mr_thread *thread = mr_enter();
    int status = MR_REAL(shmdt)(at);
    if (thread != NULL) {
        if (status == 0) {
            mr_shared_maps_remove((uintptr_t)at, mr_shared_maps_bytes((uintptr_t)at), MR_CALLER);
        }
        mr_leave(thread);
    }
    return status;
}
