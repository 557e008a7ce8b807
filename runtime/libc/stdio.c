#include "calls.h"

#include "../input_descriptors.h"
#include "../sys.h"
#include "../thread.h"
#include "../writer.h"

#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#undef getc /* macros */
#undef putc
#undef fread_unlocked
#undef fwrite_unlocked
#undef fputs_unlocked
#undef fgets_unlocked

extern size_t __fread_chk(void *restrict to, size_t room, size_t size, size_t count,
                          FILE *restrict file);
extern size_t __fread_unlocked_chk(void *restrict to, size_t room, size_t size, size_t count,
                                   FILE *restrict file);
extern char *__fgets_chk(char *restrict to, size_t all, int room, FILE *restrict file);
extern char *__fgets_unlocked_chk(char *restrict to, size_t all, int room, FILE *restrict file);

#define end_stream(file) mr_libc_end_use((file), code);

#include "stdio.def"

/* A mode without the "x" of a file that must not be there yet. */
static void without_exclusion(const char *mode, char *to, size_t room)
{
    size_t length = 0;
    for (; *mode != '\0' && length + 1 < room; mode++) {
        if (*mode != 'x') {
            to[length++] = *mode;
        }
    }
    to[length] = '\0';
}

/* When inputs are fed, the stream is there if it was, and has the descriptor that it had. If it was not, one is
 * asked for that cannot be there: the C library then allocates and frees as it did. */
static FILE *open_stream(FILE *(*open)(const char *, const char *), const char *path,
                         const char *mode)
{
    mr_input input;
    bool was_there = mr_descriptor_expect(&input, MR_NEW_STREAM);
    const bool writes = mode[0] != 'r' || mode[1] == '+' || (mode[1] != '\0' && mode[2] == '+');
    mr_thread *thread = mr_self;
    if (thread != NULL) {
        thread->opens_stream = true;
    }
    FILE *file = open(was_there ? path : "", mode);
    if (file == NULL && input.head != NULL && was_there && errno == EEXIST) {
        char again[16]; /* the recorded program made the file, which is there since */
        without_exclusion(mode, again, sizeof again);
        file = open(path, again);
    }
    if (file == NULL && input.head != NULL && was_there) {
        if (writes) {
            mr_inputs_refused(path);
        }
        file = open("/dev/null", mode);
    }
    if (thread != NULL) {
        thread->opens_stream = false;
    }
    int fd = mr_descriptor_made(&input, MR_NEW_STREAM, file != NULL ? file->_fileno : -1,
                                MR_DESCRIPTOR_UNKNOWN);
    if (file != NULL) {
        file->_fileno = fd;
        if (writes) {
            mr_descriptor_written(fd);
        }
    }
    return file;
}

#define OPENS_STREAM(name)                                                                         \
    MR_EXPORT FILE *name(const char *restrict path, const char *restrict mode)                     \
    {                                                                                              \
        const uintptr_t code = MR_CALLER;                                                          \
        mr_thread *thread = mr_memory_begin(code);                                                 \
        if (thread != NULL) {                                                                      \
            in(path, text(path))in(mode, text(mode))mr_outside_file_changes(code);                 \
        }                                                                                          \
        mr_libc_leave(thread, code);                                                               \
        FILE *result = open_stream(MR_REAL(name), path, mode);                                     \
        thread = mr_libc_return(thread);                                                           \
        if (thread != NULL) {                                                                      \
            mr_leave(thread);                                                                      \
        }                                                                                          \
        return result;                                                                             \
    }
OPENS_STREAM(fopen)
OPENS_STREAM(fopen64)
#undef OPENS_STREAM

/* Streams that write a text in memory; what has no place is not logged. */
enum { TEXTS_MAX = 64 };

static struct {
    struct {
        FILE *file; /* NULL: free */
        void **to;
        size_t *count;
        size_t size; /* of a character */
    } of[TEXTS_MAX];
} texts;

static int find_text(const FILE *file)
{
    for (int i = 0; i < TEXTS_MAX; i++) {
        if (texts.of[i].file == file) {
            return i;
        }
    }
    return -1;
}

#define OPENS_TEXT(name, type)                                                                     \
    MR_EXPORT FILE *name(type **to, size_t *count)                                                 \
    {                                                                                              \
        const uintptr_t code = MR_CALLER;                                                          \
        mr_thread *thread = mr_libc_leave(mr_memory_begin(code), code);                            \
        FILE *result = MR_REAL(name)(to, count);                                                   \
        thread = mr_libc_return(thread);                                                           \
        int i = find_text(NULL);                                                                   \
        if (thread != NULL) {                                                                      \
            if (result != NULL && i >= 0) {                                                        \
                texts.of[i].file = result;                                                         \
                texts.of[i].to = (void **)to;                                                      \
                texts.of[i].count = count;                                                         \
                texts.of[i].size = sizeof(type);                                                   \
                out(to, sizeof *to);                                                               \
                out(count, sizeof *count);                                                         \
            }                                                                                      \
            mr_leave(thread);                                                                      \
        }                                                                                          \
        return result;                                                                             \
    }
OPENS_TEXT(open_memstream, char)
OPENS_TEXT(open_wmemstream, wchar_t)
#undef OPENS_TEXT

/* The text, where it is now. */
static void log_text(int i, uintptr_t code)
{
    if (i >= 0) {
        out(texts.of[i].to, sizeof *texts.of[i].to);
        out(texts.of[i].count, sizeof *texts.of[i].count);
        out(*texts.of[i].to, (*texts.of[i].count + 1) * texts.of[i].size);
    }
}

MR_EXPORT int fflush(FILE *file)
{
    const uintptr_t code = MR_CALLER;
    mr_thread *thread = mr_memory_begin(code);
    int i = thread != NULL && file != NULL ? find_text(file) : -1;
    if (thread != NULL) {
        mr_libc_begins(thread);
        stream(file) sends(file);
        if (i >= 0) {
            mr_libc_lock(thread, file, code);
        }
        mr_libc_is_made(thread);
    }
    mr_libc_leave(thread, code);
    int result = MR_REAL(fflush)(file);
    thread = mr_libc_return(thread);
    if (thread != NULL) {
        log_text(i, code);
        if (i >= 0) {
            mr_libc_unlock(file, code);
        }
        mr_leave(thread);
    }
    return result;
}

MR_EXPORT int fclose(FILE *file)
{
    const uintptr_t code = MR_CALLER;
    mr_thread *thread = mr_memory_begin(code);
    if (thread != NULL) {
        sends(file);
        mr_libc_end_use(file, code);
    }
    mr_libc_leave(thread, code);
    int result = MR_REAL(fclose)(file);
    thread = mr_libc_return(thread);
    if (thread != NULL) {
        int i = find_text(file);
        log_text(i, code);
        if (i >= 0) {
            texts.of[i].file = NULL;
        }
        mr_leave(thread);
    }
    return result;
}

/* A call for one character, of which nothing is logged. */
static void await_turn(FILE *file, uintptr_t code)
{
    mr_thread *thread = mr_self != NULL && mr_libc_is_held() ? mr_memory_begin(code) : NULL;
    if (thread != NULL) {
        mr_libc_await_lock(file, code);
        mr_leave(thread);
    }
}

/* Loops call these for each character: most streams lead to no other thread. */
#define RECEIVES(name, parameters, arguments, file)                                                \
    MR_EXPORT int name parameters                                                                  \
    {                                                                                              \
        const uintptr_t code = MR_CALLER;                                                          \
        mr_thread *thread =                                                                        \
            mr_self != NULL && mr_libc_is_channel(file) ? mr_memory_begin(code) : NULL;            \
        if (thread == NULL) {                                                                      \
            await_turn(file, code);                                                                \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        input(file);                                                                               \
        mr_libc_leave(thread, code);                                                               \
        int result = MR_REAL(name) arguments;                                                      \
        thread = mr_libc_return(thread);                                                           \
        if (thread != NULL) {                                                                      \
            receives(file);                                                                        \
            mr_leave(thread);                                                                      \
        }                                                                                          \
        return result;                                                                             \
    }
RECEIVES(getc, (FILE * file), (file), file)
RECEIVES(fgetc, (FILE * file), (file), file)
RECEIVES(getchar, (void), (), stdin)
#undef RECEIVES

#define SENDS(name, parameters, arguments, file)                                                   \
    MR_EXPORT int name parameters                                                                  \
    {                                                                                              \
        const uintptr_t code = MR_CALLER;                                                          \
        if (mr_self != NULL && mr_libc_is_channel(file)) {                                         \
            mr_thread *thread = mr_memory_begin(code);                                             \
            if (thread != NULL) {                                                                  \
                sends(file);                                                                       \
                mr_leave(thread);                                                                  \
            }                                                                                      \
        }                                                                                          \
        await_turn(file, code);                                                                    \
        return MR_REAL(name) arguments;                                                            \
    }
SENDS(putc, (int character, FILE *file), (character, file), file)
SENDS(fputc, (int character, FILE *file), (character, file), file)
SENDS(putchar, (int character), (character), stdout)
#undef SENDS

/* The lock of a stream, as the program takes it. Who waits for it waits in the runtime. */
MR_EXPORT void flockfile(FILE *file)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        MR_REAL(flockfile)(file);
        return;
    }
    mr_yield(thread);
    mr_libc_lock(thread, file, MR_CALLER);
    mr_leave(thread);
}

MR_EXPORT int ftrylockfile(FILE *file)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return MR_REAL(ftrylockfile)(file);
    }
    mr_yield(thread);
    int status = MR_REAL(ftrylockfile)(file);
    if (status == 0) {
        mr_libc_count_held(1);
        mr_write_object(MR_LOG_ACQUIRE, MR_LOG_ROLE_MUTEX, file, MR_CALLER, 0, 0);
    }
    mr_leave(thread);
    return status;
}

MR_EXPORT void funlockfile(FILE *file)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        MR_REAL(funlockfile)(file);
        return;
    }
    mr_libc_unlock(file, MR_CALLER);
    mr_yield(thread);
    mr_leave(thread);
}
