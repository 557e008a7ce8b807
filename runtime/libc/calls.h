/*
 * calls: the rows of the tables *.def, from which the wrappers follow of functions of libc that
 * access memory of their caller.
 *
 *   QUICK(type, name, parameters, arguments, accesses before, accesses after)
 *   OPEN(type, name, parameters, arguments, accesses before, accesses after)
 *   INPUT(type, name, parameters, arguments, accesses before, accesses after)
 *   CHANGE(type, name, parameters, arguments, accesses before, accesses after)
 *   BY_HAND(name, "reads", "writes", "file")
 *
 * QUICK: the call does not block and calls nobody. The thread is inside the runtime during it, so
 * what libc allocates there is not logged. OPEN: the call may block, call functions of the program,
 * or give memory to it. INPUT: as QUICK; what it gives comes from outside (inputs.h), so it is not
 * called when that is fed. How much it writes follows from its result alone. CHANGE: as INPUT, for
 * calls that change files. When it is fed and succeeded then, the call is made again, so that the
 * files change again; the program gets the result that it had, whatever files there are now.
 * BY_HAND: the wrapper is written in that file; the row is for the table in docs/libc.md and for the
 * tests. A row whose name ends with _VOID has no type.
 *
 * Accesses are, each with a pointer and a number of bytes:
 *
 *   in(from, bytes)         read
 *   out(to, bytes)          written
 *   out_if(when, to, bytes) … when the call succeeded
 *   locked_out(to, bytes)   written under a lock of libc, 8 bytes at most: an atomic write
 *   stream(file)            the stream is used, which fclose and freopen must not do at that time
 *   input(file)             … by a call that reads from it: others run until it has something
 *   sends(file)             what it leads to, when that is a pipe or socket: who receives …
 *   receives(file)          … from there comes after who sent
 *   gives(fd)               the call gave out this descriptor
 *   starts_child, leads_to_child(file), child_ends    another process begins, has the other end, has ended
 *
 * None of them is logged for NULL or for 0 bytes. Accesses before the call are logged before it.
 * What a call reads may stand after it, where only the result tells how much it was: a QUICK call
 * is not interrupted, and these functions do not change what they read. `result` is the result.
 */
#ifndef MR_RUNTIME_LIBC_CALLS_H
#define MR_RUNTIME_LIBC_CALLS_H

#include "../channels.h"
#include "../descriptors.h"
#include "../inputs.h"
#include "../memory.h"
#include "../outside.h"
#include "../real.h"
#include "../scheduler.h"
#include "../semaphore.h"
#include "../signals.h"
#include "../steer.h"

#include <errno.h>
#include <stdio.h>
#include <wchar.h>

/* An access by libc for the caller at `code`. */
void mr_libc_access(mr_log_kind kind, const void *address, size_t bytes, uintptr_t code);
/* … that writes; part of an input when the function is one. */
static inline void mr_libc_written(const void *to, size_t bytes, uintptr_t code)
{
    mr_input_written((void *)(uintptr_t)to, bytes);
    mr_libc_access(MR_LOG_RANGE_WRITE, to, bytes, code);
}
/* Code that is not recorded gets inputs, too, but has no accesses: its `code` becomes 0. */
mr_thread *mr_libc_input_begin(uintptr_t *code);
/* The stream is used; it ends, or begins anew. */
void mr_libc_use(FILE *file, uintptr_t code);
void mr_libc_end_use(FILE *file, uintptr_t code);

/* The stream will be read: when there is nothing, others run first. */
void mr_libc_await(FILE *file);
/* A function of the program has the lock of a stream from here on (1), or will have given it back when libc returns (-1). */
void mr_libc_count_held(int change);
/* Has any of them such a lock? */
bool mr_libc_is_held(void);
/* The thread takes the lock of a stream, gives it back; both are logged. */
void mr_libc_lock(mr_thread *thread, FILE *file, uintptr_t code);
void mr_libc_unlock(FILE *file, uintptr_t code);
/* When another thread has the stream's lock, the call would wait for it in libc, with the baton. */
void mr_libc_await_lock(FILE *file, uintptr_t code);
/* Does the stream lead to a pipe or socket? */
bool mr_libc_is_channel(FILE *file);
/* Order by that: BEFORE for what is sent, AFTER for what is received. */
void mr_libc_channel(mr_log_kind kind, FILE *file, uintptr_t code);
/* popen gave the stream. */
void mr_libc_leads_to_child(FILE *file);

/* The thread is in no function of the runtime any more while the call lasts; what is allocated
 * there counts as of the caller. NULL: not recorded. */
mr_thread *mr_libc_leave(mr_thread *thread, uintptr_t code);
mr_thread *mr_libc_return(mr_thread *thread);

/* Bytes of a text with its end; of one with at most `most` characters. NULL: 0. */
size_t mr_text(const char *text);
size_t mr_text_up_to(const char *text, size_t most);
size_t mr_wide(const wchar_t *text);
size_t mr_wide_up_to(const wchar_t *text, size_t most);

/* A replay may stop the thread before one of the accesses, or before the call (steer.h). */
static inline void mr_libc_begins(const mr_thread *thread)
{
    if (mr_steers()) {
        mr_steer_call_begins(thread);
    }
}
static inline void mr_libc_is_made(mr_thread *thread)
{
    if (mr_steers()) {
        mr_steer_call_is_made(thread);
    }
}

#define in(from, bytes) mr_libc_access(MR_LOG_RANGE_READ, (from), (bytes), code);
#define out(to, bytes)  mr_libc_written((to), (bytes), code);
#define out_if(success, to, bytes)                                                                 \
    if (success) {                                                                                 \
        out((to), (bytes));                                                                        \
    }
#define locked_out(to, bytes)  mr_libc_access(MR_LOG_ATOMIC_WRITE, (to), (bytes), code);
#define stream(file)           mr_libc_use((file), code);
#define input(file)            stream(file) mr_libc_await(file);
#define sends(file)            mr_libc_channel(MR_LOG_BEFORE, (file), code);
#define receives(file)         mr_libc_channel(MR_LOG_AFTER, (file), code);
#define gives(fd)              mr_descriptor_given(thread, (fd), false, code);
#define starts_child           mr_channels_inherited(code);
#define leads_to_child(file)   mr_libc_leads_to_child(file);
#define child_ends             mr_outside_hear(code);
#define looks_for_signals      mr_signal_log_pending(NULL, code);
#define asks_for_units(from)   mr_semaphore_log_asked((from), code);
#define text(from)             mr_text(from)
#define text_up_to(from, most) mr_text_up_to((from), (most))
#define wide(from)             mr_wide(from)
#define wide_up_to(from, most) mr_wide_up_to((from), (most))
#define nothing

#define QUICK(type, name, parameters, arguments, before, after)                                    \
    MR_EXPORT type name parameters;                                                                \
    type name parameters                                                                           \
    {                                                                                              \
        const uintptr_t code __attribute__((unused)) = MR_CALLER;                                  \
        mr_thread *thread = mr_memory_begin(code);                                                 \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        mr_libc_begins(thread);                                                                    \
        before;                                                                                    \
        mr_libc_is_made(thread);                                                                   \
        type result = MR_REAL(name) arguments;                                                     \
        after;                                                                                     \
        mr_leave(thread);                                                                          \
        return result;                                                                             \
    }

#define INPUT(type, name, parameters, arguments, before, after)                                    \
    MR_EXPORT type name parameters;                                                                \
    type name parameters                                                                           \
    {                                                                                              \
        uintptr_t code = MR_CALLER;                                                                \
        int64_t fed;                                                                               \
        mr_thread *thread = mr_libc_input_begin(&code);                                            \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        mr_libc_begins(thread);                                                                    \
        before;                                                                                    \
        mr_libc_is_made(thread);                                                                   \
        type result = mr_input_call(thread, #name, &fed) ? (type)fed : MR_REAL(name) arguments;    \
        const int saved_errno = errno;                                                             \
        after;                                                                                     \
        errno = saved_errno;                                                                       \
        mr_input_called(thread, (int64_t)result);                                                  \
        mr_leave(thread);                                                                          \
        return result;                                                                             \
    }

#define CHANGE(type, name, parameters, arguments, before, after)                                   \
    MR_EXPORT type name parameters;                                                                \
    type name parameters                                                                           \
    {                                                                                              \
        uintptr_t code = MR_CALLER;                                                                \
        int64_t fed;                                                                               \
        mr_thread *thread = mr_libc_input_begin(&code);                                            \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        mr_libc_begins(thread);                                                                    \
        before;                                                                                    \
        mr_outside_file_changes(MR_CALLER);                                                        \
        mr_libc_is_made(thread);                                                                   \
        const bool is_fed = mr_input_change(thread, #name, &fed);                                  \
        const int fed_errno = errno;                                                               \
        type result = is_fed && fed < 0 ? (type)fed : MR_REAL(name) arguments;                     \
        if (is_fed) {                                                                              \
            if (result < 0 && fed >= 0) {                                                          \
                mr_inputs_refused(#name);                                                          \
            }                                                                                      \
            result = (type)fed;                                                                    \
            errno = fed_errno;                                                                     \
        }                                                                                          \
        const int saved_errno = errno;                                                             \
        after;                                                                                     \
        errno = saved_errno;                                                                       \
        mr_input_called(thread, (int64_t)result);                                                  \
        mr_leave(thread);                                                                          \
        return result;                                                                             \
    }

#define QUICK_VOID(name, parameters, arguments, before, after)                                     \
    MR_EXPORT void name parameters;                                                                \
    void name parameters                                                                           \
    {                                                                                              \
        const uintptr_t code __attribute__((unused)) = MR_CALLER;                                  \
        mr_thread *thread = mr_memory_begin(code);                                                 \
        if (thread == NULL) {                                                                      \
            MR_REAL(name) arguments;                                                               \
            return;                                                                                \
        }                                                                                          \
        mr_libc_begins(thread);                                                                    \
        before;                                                                                    \
        mr_libc_is_made(thread);                                                                   \
        MR_REAL(name) arguments;                                                                   \
        after;                                                                                     \
        mr_leave(thread);                                                                          \
    }

#define OPEN(type, name, parameters, arguments, before, after)                                     \
    MR_EXPORT type name parameters;                                                                \
    type name parameters                                                                           \
    {                                                                                              \
        const uintptr_t code = MR_CALLER;                                                          \
        mr_thread *thread = mr_memory_begin(code);                                                 \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        mr_libc_begins(thread);                                                                    \
        before;                                                                                    \
        mr_libc_is_made(thread);                                                                   \
        mr_libc_leave(thread, code);                                                               \
        type result = MR_REAL(name) arguments;                                                     \
        thread = mr_libc_return(thread);                                                           \
        if (thread != NULL) {                                                                      \
            after;                                                                                 \
            mr_leave(thread);                                                                      \
        }                                                                                          \
        return result;                                                                             \
    }

#define OPEN_VOID(name, parameters, arguments, before, after)                                      \
    MR_EXPORT void name parameters;                                                                \
    void name parameters                                                                           \
    {                                                                                              \
        const uintptr_t code = MR_CALLER;                                                          \
        mr_thread *thread = mr_memory_begin(code);                                                 \
        if (thread == NULL) {                                                                      \
            MR_REAL(name) arguments;                                                               \
            return;                                                                                \
        }                                                                                          \
        mr_libc_begins(thread);                                                                    \
        before;                                                                                    \
        mr_libc_is_made(thread);                                                                   \
        mr_libc_leave(thread, code);                                                               \
        MR_REAL(name) arguments;                                                                   \
        thread = mr_libc_return(thread);                                                           \
        if (thread != NULL) {                                                                      \
            after;                                                                                 \
            mr_leave(thread);                                                                      \
        }                                                                                          \
    }

#define BY_HAND(name, reads, writes, file)

#endif
