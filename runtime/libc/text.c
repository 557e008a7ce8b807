#include "../operands.h"
#include "calls.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#undef basename

struct crypt_data;
extern char *crypt_r(const char *key, const char *salt, struct crypt_data *to);
extern void *__memcpy_chk(void *to, const void *from, size_t bytes, size_t room);
extern void *__memmove_chk(void *to, const void *from, size_t bytes, size_t room);
extern void *__mempcpy_chk(void *to, const void *from, size_t bytes, size_t room);
extern void *__memset_chk(void *to, int value, size_t bytes, size_t room);
extern char *__strcpy_chk(char *to, const char *from, size_t room);
extern char *__stpcpy_chk(char *to, const char *from, size_t room);
extern char *__strncpy_chk(char *to, const char *from, size_t most, size_t room);
extern char *__stpncpy_chk(char *to, const char *from, size_t most, size_t room);
extern char *__strcat_chk(char *to, const char *from, size_t room);
extern char *__strncat_chk(char *to, const char *from, size_t most, size_t room);

/* Bytes from `from` to `found`, that included. */
static size_t upto(const void *from, const void *found)
{
    return (size_t)((const char *)found - (const char *)from) + 1;
}

/* … up to the first such byte. */
static size_t found_in(const void *from, int wanted, size_t bytes)
{
    const void *at = MR_REAL(memchr)(from, wanted, bytes);
    return at != NULL ? upto(from, at) : bytes;
}

static size_t even(ssize_t bytes)
{
    return bytes > 0 ? (size_t)bytes & ~(size_t)1 : 0;
}

/* Bytes of both that a comparison looks at: up to the first difference or end. */
static size_t compared(const char *a, const char *b, size_t most)
{
    size_t i = 0;
    while (i < most && a[i] == b[i] && a[i] != '\0') {
        i++;
    }
    return i < most ? i + 1 : most;
}

static size_t memory_compared(const void *a, const void *b, size_t most)
{
    const char *x = a;
    const char *y = b;
    size_t i = 0;
    if (MR_REAL(memcmp)(a, b, most) == 0) {
        return most;
    }
    while (i < most && x[i] == y[i]) {
        i++;
    }
    return i + 1;
}

static bool same_letter(unsigned char x, unsigned char y)
{
    return x == y || ((x | 32) == (y | 32) && (x | 32) >= 'a' && (x | 32) <= 'z');
}

static size_t compared_any_case(const char *a, const char *b, size_t most)
{
    size_t i = 0;
    while (i < most && same_letter((unsigned char)a[i], (unsigned char)b[i]) && a[i] != '\0') {
        i++;
    }
    return i < most ? i + 1 : most;
}

#define both(a, b, bytes)                                                                          \
    {                                                                                              \
        const size_t looked_at = (bytes);                                                          \
        in(a, looked_at)in(b, looked_at)                                                           \
    }

/* For a search for inputs. */
#define compares(a, bytes, b, other)                                                               \
    if (mr_operands_are_kept) {                                                                    \
        mr_operands_text((a), (bytes), (b), (other), code);                                        \
    }

/* Bytes that a conversion to a number looks at: what it takes and the byte that ends it, or the
 * first one after white space that it does not take. */
static size_t number_bytes(const char *from, const char *end)
{
    size_t length = (size_t)(end - from);
    while (end == from && isspace((unsigned char)from[length])) {
        length++;
    }
    return length + 1;
}

static size_t number(const char *from)
{
    int saved_errno = errno;
    char *end;
    MR_REAL(strtol)(from, &end, 10);
    errno = saved_errno;
    return number_bytes(from, end);
}

static size_t decimal(const char *from)
{
    int saved_errno = errno;
    char *end;
    MR_REAL(strtod)(from, &end);
    errno = saved_errno;
    return number_bytes(from, end);
}

/* The end of the number is taken even when the program does not ask for it. With a base that does
 * not exist there is none. */
#define NUMBER(type, name, parameters, arguments)                                                  \
    MR_EXPORT type name parameters;                                                                \
    type name parameters                                                                           \
    {                                                                                              \
        const uintptr_t code = MR_CALLER;                                                          \
        mr_thread *thread = mr_memory_begin(code);                                                 \
        char *end = NULL;                                                                          \
        type result = MR_REAL(name) arguments;                                                     \
        if (end != NULL && to != NULL) {                                                           \
            *to = end;                                                                             \
        }                                                                                          \
        if (thread != NULL) {                                                                      \
            in(from, end != NULL ? number_bytes(from, end) : 0);                                   \
            out(end != NULL ? to : NULL, sizeof *to);                                              \
            mr_leave(thread);                                                                      \
        }                                                                                          \
        return result;                                                                             \
    }

#define APPEND(name, parameters, arguments, bytes)                                                 \
    MR_EXPORT char *name parameters;                                                               \
    char *name parameters                                                                          \
    {                                                                                              \
        const uintptr_t code = MR_CALLER;                                                          \
        mr_thread *thread = mr_memory_begin(code);                                                 \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        const size_t before = text(to);                                                            \
        const size_t added = bytes;                                                                \
        mr_libc_begins(thread);                                                                    \
        in(to, before)in(from, added);                                                             \
        mr_libc_is_made(thread);                                                                   \
        const bool ends = added > 0 && from[added - 1] == '\0';                                    \
        char *result = MR_REAL(name) arguments;                                                    \
        out(to + before - 1, added + !ends);                                                       \
        mr_leave(thread);                                                                          \
        return result;                                                                             \
    }

#define remember(bytes) const size_t remembered = (bytes);
/* The text at `path`, which had `remembered` bytes, ends where `result` does, if that is in it. */
#define end_moved(path, result)                                                                    \
    out_if((result) >= (path) && (result) < (path) + remembered &&                                 \
               (result) + text(result) < (path) + remembered,                                      \
           (result) + text(result) - 1, 1)

#include "text.def"

/* The block is given with its contents, so only the source is accessed. */
static char *duplicate(const char *from, size_t bytes, size_t most, uintptr_t code)
{
    mr_thread *thread = mr_memory_begin(code);
    if (thread != NULL) {
        in(from, bytes);
    }
    mr_libc_leave(thread, code);
    char *copy = MR_REAL(strndup)(from, most);
    thread = mr_libc_return(thread);
    if (thread != NULL) {
        out(copy, text(copy));
        mr_leave(thread);
    }
    return copy;
}

#define DUPLICATES(name, parameters, bytes, most)                                                  \
    MR_EXPORT char *name parameters;                                                               \
    char *name parameters                                                                          \
    {                                                                                              \
        return duplicate(from, bytes, most, MR_CALLER);                                            \
    }
DUPLICATES(strdup, (const char *from), text(from), SIZE_MAX / 2)
DUPLICATES(__strdup, (const char *from), text(from), SIZE_MAX / 2)
DUPLICATES(strndup, (const char *from, size_t most), text_up_to(from, most), most)
DUPLICATES(__strndup, (const char *from, size_t most), text_up_to(from, most), most)
#undef DUPLICATES

static struct {
    char *next; /* where strtok goes on */
} strtok_state;

/* Ends a part after `length` bytes of `start`; returns where the next one begins, NULL: there is
 * none. */
static char *end_part(const mr_thread *thread, char *start, size_t length, uintptr_t code)
{
    char *end = start + length;
    if (*end == '\0') {
        return NULL;
    }
    *end = '\0';
    if (thread != NULL) {
        out(end, 1);
    }
    return end + 1;
}

/* As strtok_r. */
static char *next_part(char *from, const char *set, char **next, uintptr_t code)
{
    mr_thread *thread = mr_memory_begin(code);
    char *start = from != NULL ? from : *next;
    size_t skipped = MR_REAL(strspn)(start, set);
    char *part = start + skipped;
    size_t length = MR_REAL(strcspn)(part, set);
    if (thread != NULL) {
        in(set, text(set));
        in(from != NULL ? NULL : next, sizeof *next);
        in(start, skipped + length + 1);
    }
    char *after = end_part(thread, part, length, code);
    *next = after != NULL ? after : part + length;
    if (thread != NULL) {
        out(next, sizeof *next);
        mr_leave(thread);
    }
    return length > 0 ? part : NULL;
}

MR_EXPORT char *strtok(char *restrict from, const char *restrict set)
{
    return next_part(from, set, &strtok_state.next, MR_CALLER);
}

MR_EXPORT char *strtok_r(char *restrict from, const char *restrict set, char **restrict next)
{
    return next_part(from, set, next, MR_CALLER);
}

MR_EXPORT char *__strtok_r(char *restrict from, const char *restrict set, char **restrict next)
{
    return next_part(from, set, next, MR_CALLER);
}

MR_EXPORT char *strsep(char **restrict from, const char *restrict set)
{
    const uintptr_t code = MR_CALLER;
    mr_thread *thread = mr_memory_begin(code);
    char *start = *from;
    if (thread != NULL) {
        in(from, sizeof *from);
    }
    if (start != NULL) {
        size_t length = MR_REAL(strcspn)(start, set);
        if (thread != NULL) {
            in(set, text(set));
            in(start, length + 1);
        }
        *from = end_part(thread, start, length, code);
        if (thread != NULL) {
            out(from, sizeof *from);
        }
    }
    if (thread != NULL) {
        mr_leave(thread);
    }
    return start;
}
