#include "calls.h"

#include <stdlib.h>
#include <time.h>
#include <wctype.h>

/* Bytes from `from` to `found`, that included. */
static size_t to_here(const wchar_t *from, const wchar_t *found)
{
    return (size_t)(found - from + 1) * sizeof *from;
}

/* Bytes of both that a comparison looks at: up to the first difference or end. */
static size_t compared(const wchar_t *a, const wchar_t *b, size_t most, bool ends)
{
    size_t i = 0;
    while (i < most && a[i] == b[i] && !(ends && a[i] == L'\0')) {
        i++;
    }
    return (i < most ? i + 1 : most) * sizeof *a;
}

/* Bytes that a conversion to a number looks at, as in text.c. */
static size_t number_bytes(const wchar_t *from, const wchar_t *end)
{
    size_t length = (size_t)(end - from);
    while (end == from && iswspace((wint_t)from[length])) {
        length++;
    }
    return (length + 1) * sizeof *from;
}

/* Bytes that a conversion of one character took: 0 stands for the end, -1 and -2 for an error and
 * for less than a character. */
static size_t taken(size_t result, size_t most)
{
    return result == (size_t)-2 ? most : result == (size_t)-1 || result == 0 ? most > 0 : result;
}

#define remember(bytes)     const size_t remembered = (bytes);
#define remember_text(from) const char *remembered = (from);
#define remember_wide(from) const wchar_t *remembered = (from);
#define out_wide(to, result, room)                                                                 \
    out_if((result) != (size_t)-1, to, ((result) < (room) ? (result) + 1 : (room)) * sizeof *to)
#define out_wide_up_to(to, result, room, ends)                                                     \
    out_if((result) != (size_t)-1, to,                                                             \
           ((result) < (room) && (ends) ? (result) + 1 : (result)) * sizeof *to)
#define both(a, b, bytes)                                                                          \
    {                                                                                              \
        const size_t looked_at = (bytes);                                                          \
        in(a, looked_at)in(b, looked_at)                                                           \
    }

#define NUMBER(type, name, parameters, arguments)                                                  \
    MR_EXPORT type name parameters;                                                                \
    type name parameters                                                                           \
    {                                                                                              \
        const uintptr_t code = MR_CALLER;                                                          \
        mr_thread *thread = mr_memory_begin(code);                                                 \
        wchar_t *end = NULL;                                                                       \
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

#include "wide.def"
