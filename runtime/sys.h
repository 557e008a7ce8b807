/*
 * sys: the few services that the runtime asks of the kernel directly, so that it never comes back
 * into the functions that it interposes. Return values are those of the kernel: -errno on failure.
 */
#ifndef MR_RUNTIME_SYS_H
#define MR_RUNTIME_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

long mr_sys(long number, long a, long b, long c, long d, long e, long f);

/* Is this result of a call that gives an address a failure? */
static inline int mr_sys_failed(long result)
{
    return (unsigned long)result > -4096ul;
}

/* Sleeps while *word == expected; nanoseconds < 0: no limit. Comes back early for signals. */
void mr_futex_wait(uint32_t *word, uint32_t expected, int64_t nanoseconds);
void mr_futex_wake(uint32_t *word, int count);

/* What poll says at once. No cancellation point, and a signal does not end it. */
struct pollfd;
long mr_poll_now(struct pollfd *fds, size_t count);

/* The descriptor gets a higher number, or a lower one when there is none higher. Returns the number, which is `fd`
 * when there is no other. */
int mr_move_descriptor(int fd);

/* A lock without owner: 0 free, 1 held, 2 held and waited for. */
void mr_lock(uint32_t *word);
void mr_unlock(uint32_t *word);

/* Zeroed memory of whole pages; it is never given back. NULL when there is none. */
void *mr_pages(size_t bytes);

int64_t mr_clock_ns(int clock);
int mr_gettid(void);

/* The begin of a file that the kernel has about a thread of the process, with a NUL behind it:
 * "/stat",
 * "/status". Returns its length, or -errno. */
long mr_read_task(int id, const char *file, char *text, size_t room);

/* Text without libc: copies at most room - 1 bytes, always terminates; returns the length. */
size_t mr_copy_text(char *to, size_t room, const char *from);
/* In decimal digits, at most 20, and no NUL; returns how many these are. */
size_t mr_copy_number(char *to, uint64_t number);

/* Does the text begin like this? */
bool mr_begins_with(const char *text, const char *begin);
/* Does the name of the file begin like this? So libraries are told whatever their version. */
bool mr_is_called(const char *path, const char *begin);

/* One line on standard error: "maxrace: " and the texts (NULL: none). */
void mr_complain(const char *text, const char *detail);

/* Decimal text to a number; `otherwise` when it is not one. */
uint64_t mr_parse_number(const char *text, uint64_t otherwise);

#endif
