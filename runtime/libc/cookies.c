/*
 * Streams whose reads and writes are functions of the program (fopencookie). libc calls these with the stream's lock, which it takes
 * unseen: so a section of that lock is logged for each. Calls that take no lock (putc_unlocked and its like) have none.
 */
#include "../writer.h"
#include "calls.h"

#include <pthread.h>

enum { STREAMS_MAX = 64 };

typedef struct cookie_stream {
    bool used;
    FILE *file; /* NULL: fopencookie has not returned */
    void *cookie;
    cookie_io_functions_t functions;
} cookie_stream;

static cookie_stream streams[STREAMS_MAX]; /* those beyond that have no sections */

/* The lock of a stream, as glibc has it. */
typedef struct stream_lock {
    int state, count;
    void *owner;
} stream_lock;

static bool is_owner(const FILE *file)
{
    const stream_lock *lock = file != NULL ? (const stream_lock *)file->_lock : NULL;
    return lock != NULL && lock->owner == (void *)pthread_self();
}

/* Gives the stream that has a section, NULL: it has none. */
static cookie_stream *begin(cookie_stream *stream, uintptr_t code)
{
    mr_thread *thread = is_owner(stream->file) ? mr_enter() : NULL;
    if (thread == NULL) {
        return NULL;
    }
    mr_libc_count_held(1);
    mr_write_object(MR_LOG_ACQUIRE, MR_LOG_ROLE_MUTEX, stream->file, mr_code_of(thread, code), 0,
                    0);
    mr_leave(thread);
    return stream;
}

/* Also where the function is left by an exception or a cancellation. */
static void end(cookie_stream **section)
{
    if (*section == NULL) {
        return;
    }
    const FILE *file = (*section)->file;
    mr_thread *thread = mr_enter();
    mr_libc_count_held(-1);
    if (thread != NULL) {
        mr_write_object(MR_LOG_RELEASE, MR_LOG_ROLE_MUTEX, file, mr_code_of(thread, MR_CALLER), 0,
                        0);
        mr_wake_key(file);
        mr_leave(thread);
    }
}

#define SECTION(stream)                                                                            \
    cookie_stream *section __attribute__((cleanup(end), unused)) = begin((stream), MR_CALLER)

static ssize_t read_stream(void *cookie, char *to, size_t bytes)
{
    cookie_stream *self = cookie;
    SECTION(self);
    return self->functions.read(self->cookie, to, bytes);
}

static ssize_t write_stream(void *cookie, const char *from, size_t bytes)
{
    cookie_stream *self = cookie;
    SECTION(self);
    return self->functions.write(self->cookie, from, bytes);
}

static int seek_stream(void *cookie, off64_t *at, int from)
{
    cookie_stream *self = cookie;
    SECTION(self);
    return self->functions.seek(self->cookie, at, from);
}

static int close_stream(void *cookie)
{
    cookie_stream *self = cookie;
    SECTION(self);
    int result = self->functions.close != NULL ? self->functions.close(self->cookie) : 0;
    self->used = false;
    return result;
}

static cookie_stream *free_stream(void)
{
    for (int i = 0; i < STREAMS_MAX; i++) {
        if (!streams[i].used) {
            return &streams[i];
        }
    }
    return NULL;
}

MR_EXPORT FILE *fopencookie(void *restrict cookie, const char *restrict mode,
                            cookie_io_functions_t functions)
{
    const uintptr_t code = MR_CALLER;
    mr_thread *thread = mr_memory_begin(code);
    cookie_stream *stream = thread != NULL ? free_stream() : NULL;
    if (thread != NULL) {
        in(mode, text(mode))
    }
    if (stream != NULL) {
        *stream = (cookie_stream){true, NULL, cookie, functions};
    }
    mr_libc_leave(thread, code);
    FILE *result;
    if (stream == NULL) {
        result = MR_REAL(fopencookie)(cookie, mode, functions);
    } else {
        cookie_io_functions_t ours = {functions.read != NULL ? read_stream : NULL,
                                      functions.write != NULL ? write_stream : NULL,
                                      functions.seek != NULL ? seek_stream : NULL, close_stream};
        result = MR_REAL(fopencookie)(stream, mode, ours);
        stream->file = result;
        stream->used = result != NULL;
    }
    thread = mr_libc_return(thread);
    if (thread != NULL) {
        mr_leave(thread);
    }
    return result;
}
