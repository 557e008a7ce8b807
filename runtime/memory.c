/*
 * The functions of libc that read and write memory for their caller, as accesses to ranges. Only
 * what instrumented code calls is logged: of other code the rest is not known either.
 */
#include "memory.h"

#include "ignore.h"
#include "modules.h"
#include "real.h"
#include "scheduler.h"
#include "tsan.h"
#include "writer.h"

#include <string.h>
#include <strings.h>

mr_thread *mr_memory_begin(uintptr_t code)
{
    mr_thread *thread = mr_self;
    if (thread == NULL || thread->busy != 0 || !mr_is_instrumented(code)) {
        return NULL;
    }
    if (thread->attention != 0 || --mr_hot->budget < 0) {
        mr_look_around(thread);
    }
    return mr_enter();
}

void mr_memory_read(const mr_thread *thread, const void *address, size_t bytes, uintptr_t code)
{
    if (thread != NULL && bytes > 0 && !mr_ignores_reads(thread)) {
        mr_write_range(MR_LOG_RANGE_READ, address, bytes, code);
    }
}

void mr_memory_end(mr_thread *thread, const void *written, size_t bytes, uintptr_t code)
{
    if (thread != NULL) {
        if (bytes > 0 && !mr_ignores_writes(thread)) {
            mr_write_range(MR_LOG_RANGE_WRITE, written, bytes, code);
        }
        mr_leave(thread);
    }
}

void mr_memory_written(const void *address, size_t bytes, uintptr_t code)
{
    if (mr_is_instrumented(code) && !mr_ignores_writes(mr_self)) {
        mr_write_range(MR_LOG_RANGE_WRITE, address, bytes, code);
    }
}

/* X(result, name, parameters, arguments, bytes read at `from`, bytes written at `to`): both before
 * the call. */
#define COPY(type, name, parameters, arguments, read_bytes, write_bytes)                           \
    MR_EXPORT type name parameters;                                                                \
    type name parameters                                                                           \
    {                                                                                              \
        mr_thread *thread = mr_memory_begin(MR_CALLER);                                            \
        size_t copied = 0;                                                                         \
        if (thread != NULL) {                                                                      \
            mr_memory_read(thread, from, read_bytes, MR_CALLER);                                   \
            copied = write_bytes;                                                                  \
        }                                                                                          \
        type result = MR_REAL(name) arguments;                                                     \
        mr_memory_end(thread, to, copied, MR_CALLER);                                              \
        return result;                                                                             \
    }

extern void *__memcpy_chk(void *to, const void *from, size_t bytes, size_t room);
extern void *__memmove_chk(void *to, const void *from, size_t bytes, size_t room);
extern void *__mempcpy_chk(void *to, const void *from, size_t bytes, size_t room);
extern char *__strcpy_chk(char *to, const char *from, size_t room);
extern char *__stpcpy_chk(char *to, const char *from, size_t room);
extern char *__strncpy_chk(char *to, const char *from, size_t bytes, size_t room);

static size_t length_up_to(const char *text, size_t most)
{
    size_t length = 0;
    while (length < most && text[length] != '\0') {
        length++;
    }
    return length < most ? length + 1 : most;
}

static size_t with_end(const char *text)
{
    return length_up_to(text, (size_t)-1);
}

COPY(void *, memcpy, (void *restrict to, const void *restrict from, size_t bytes),
     (to, from, bytes), bytes, bytes)
COPY(void *, memmove, (void *to, const void *from, size_t bytes), (to, from, bytes), bytes, bytes)
COPY(void *, mempcpy, (void *restrict to, const void *restrict from, size_t bytes),
     (to, from, bytes), bytes, bytes)
COPY(void *, __memcpy_chk, (void *to, const void *from, size_t bytes, size_t room),
     (to, from, bytes, room), bytes, bytes)
COPY(void *, __memmove_chk, (void *to, const void *from, size_t bytes, size_t room),
     (to, from, bytes, room), bytes, bytes)
COPY(void *, __mempcpy_chk, (void *to, const void *from, size_t bytes, size_t room),
     (to, from, bytes, room), bytes, bytes)
COPY(char *, strcpy, (char *restrict to, const char *restrict from), (to, from), with_end(from),
     with_end(from))
COPY(char *, stpcpy, (char *restrict to, const char *restrict from), (to, from), with_end(from),
     with_end(from))
COPY(char *, strncpy, (char *restrict to, const char *restrict from, size_t bytes),
     (to, from, bytes), length_up_to(from, bytes), bytes)
COPY(char *, __strcpy_chk, (char *to, const char *from, size_t room), (to, from, room),
     with_end(from), with_end(from))
COPY(char *, __stpcpy_chk, (char *to, const char *from, size_t room), (to, from, room),
     with_end(from), with_end(from))
COPY(char *, __strncpy_chk, (char *to, const char *from, size_t bytes, size_t room),
     (to, from, bytes, room), length_up_to(from, bytes), bytes)
#undef COPY

/* strcat and its like read what is there, too. */
#define APPEND(name, parameters, arguments, most)                                                  \
    MR_EXPORT char *name parameters;                                                               \
    char *name parameters                                                                          \
    {                                                                                              \
        mr_thread *thread = mr_memory_begin(MR_CALLER);                                            \
        char *end = to;                                                                            \
        size_t copied = 0;                                                                         \
        if (thread != NULL) {                                                                      \
            end = to + with_end(to) - 1;                                                           \
            copied = length_up_to(from, most);                                                     \
            mr_memory_read(thread, to, (size_t)(end - to) + 1, MR_CALLER);                         \
            mr_memory_read(thread, from, copied, MR_CALLER);                                       \
            copied += copied == 0 || from[copied - 1] != '\0';                                     \
        }                                                                                          \
        char *result = MR_REAL(name) arguments;                                                    \
        mr_memory_end(thread, end, copied, MR_CALLER);                                             \
        return result;                                                                             \
    }

extern char *__strcat_chk(char *to, const char *from, size_t room);
extern char *__strncat_chk(char *to, const char *from, size_t bytes, size_t room);

APPEND(strcat, (char *restrict to, const char *restrict from), (to, from), (size_t)-1)
APPEND(strncat, (char *restrict to, const char *restrict from, size_t bytes), (to, from, bytes),
       bytes)
APPEND(__strcat_chk, (char *to, const char *from, size_t room), (to, from, room), (size_t)-1)
APPEND(__strncat_chk, (char *to, const char *from, size_t bytes, size_t room),
       (to, from, bytes, room), bytes)
#undef APPEND

static void *set_bytes(void *to, int value, size_t bytes, uintptr_t code)
{
    mr_thread *thread = mr_memory_begin(code);
    void *result = MR_REAL(memset)(to, value, bytes);
    mr_memory_end(thread, to, bytes, code);
    return result;
}

MR_EXPORT void *memset(void *to, int value, size_t bytes)
{
    return set_bytes(to, value, bytes, MR_CALLER);
}

extern void *__memset_chk(void *to, int value, size_t bytes, size_t room);
MR_EXPORT void *__memset_chk(void *to, int value, size_t bytes, size_t room)
{
    return bytes > room ? MR_REAL(__memset_chk)(to, value, bytes, room)
                        : set_bytes(to, value, bytes, MR_CALLER);
}

MR_EXPORT void bzero(void *to, size_t bytes)
{
    set_bytes(to, 0, bytes, MR_CALLER);
}

MR_EXPORT void explicit_bzero(void *to, size_t bytes)
{
    set_bytes(to, 0, bytes, MR_CALLER);
}

/* What compilers call instead, where they do not leave these calls alone. */
void *__tsan_memcpy(void *to, const void *from, unsigned long bytes)
{
    mr_thread *thread = mr_memory_begin(MR_CALLER);
    mr_memory_read(thread, from, bytes, MR_CALLER);
    void *result = MR_REAL(memmove)(to, from, bytes);
    mr_memory_end(thread, to, bytes, MR_CALLER);
    return result;
}

void *__tsan_memmove(void *to, const void *from, unsigned long bytes)
{
    return __tsan_memcpy(to, from, bytes);
}

void *__tsan_memset(void *to, int value, unsigned long bytes)
{
    return set_bytes(to, value, bytes, MR_CALLER);
}
