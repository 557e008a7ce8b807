/* Functions that only read: what they looked at, which is known after the call. */
#include "memory.h"
#include "real.h"

#include <string.h>
#include <strings.h>

#define UP_TO(most) length_up_to(text, most)

static size_t length_up_to(const char *text, size_t most)
{
    size_t length = 0;
    while (length < most && text[length] != '\0') {
        length++;
    }
    return length < most ? length + 1 : most;
}

/* … up to a wanted one. */
static size_t length_to(const void *bytes, int wanted, size_t most, bool ends)
{
    const unsigned char *text = bytes;
    size_t length = 0;
    while (length < most && text[length] != (unsigned char)wanted && !(ends && text[length] == 0)) {
        length++;
    }
    return length < most ? length + 1 : most;
}

/* Bytes of both that a comparison looked at: up to the first difference or end. */
static size_t compared(const char *a, const char *b, size_t most, bool ends, bool any_case)
{
    size_t i = 0;
    while (i < most) {
        unsigned char x = (unsigned char)a[i];
        unsigned char y = (unsigned char)b[i];
        bool same =
            x == y || (any_case && (x | 32) == (y | 32) && (x | 32) >= 'a' && (x | 32) <= 'z');
        i++;
        if (!same || (ends && x == '\0')) {
            break;
        }
    }
    return i;
}

/* The reads are logged before the call, while nobody else runs. */
#define READ_ONE(type, name, parameters, arguments, bytes)                                         \
    MR_EXPORT type name parameters;                                                                \
    type name parameters                                                                           \
    {                                                                                              \
        mr_thread *thread = mr_memory_begin(MR_CALLER);                                            \
        if (thread != NULL) {                                                                      \
            mr_memory_read(thread, text, bytes, MR_CALLER);                                        \
        }                                                                                          \
        type result = MR_REAL(name) arguments;                                                     \
        mr_memory_end(thread, NULL, 0, MR_CALLER);                                                 \
        return result;                                                                             \
    }

READ_ONE(size_t, strlen, (const char *text), (text), UP_TO((size_t)-1))
READ_ONE(size_t, strnlen, (const char *text, size_t most), (text, most), UP_TO(most))
READ_ONE(char *, strchr, (const char *text, int wanted), (text, wanted),
         length_to(text, wanted, (size_t)-1, true))
READ_ONE(char *, strrchr, (const char *text, int wanted), (text, wanted), UP_TO((size_t)-1))
READ_ONE(void *, memchr, (const void *text, int wanted, size_t bytes), (text, wanted, bytes),
         length_to(text, wanted, bytes, false))
READ_ONE(char *, strstr, (const char *text, const char *wanted), (text, wanted), UP_TO((size_t)-1))
#undef READ_ONE

#define READ_TWO(type, name, parameters, arguments, bytes)                                         \
    MR_EXPORT type name parameters;                                                                \
    type name parameters                                                                           \
    {                                                                                              \
        mr_thread *thread = mr_memory_begin(MR_CALLER);                                            \
        if (thread != NULL) {                                                                      \
            size_t looked_at = bytes;                                                              \
            mr_memory_read(thread, a, looked_at, MR_CALLER);                                       \
            mr_memory_read(thread, b, looked_at, MR_CALLER);                                       \
        }                                                                                          \
        type result = MR_REAL(name) arguments;                                                     \
        mr_memory_end(thread, NULL, 0, MR_CALLER);                                                 \
        return result;                                                                             \
    }

READ_TWO(int, memcmp, (const void *a, const void *b, size_t most), (a, b, most),
         compared(a, b, most, false, false))
READ_TWO(int, bcmp, (const void *a, const void *b, size_t most), (a, b, most),
         compared(a, b, most, false, false))
READ_TWO(int, strcmp, (const char *a, const char *b), (a, b),
         compared(a, b, (size_t)-1, true, false))
READ_TWO(int, strncmp, (const char *a, const char *b, size_t most), (a, b, most),
         compared(a, b, most, true, false))
READ_TWO(int, strcasecmp, (const char *a, const char *b), (a, b),
         compared(a, b, (size_t)-1, true, true))
READ_TWO(int, strncasecmp, (const char *a, const char *b, size_t most), (a, b, most),
         compared(a, b, most, true, true))
#undef READ_TWO

/* Copies in memory of their own: the block is given with its contents, so only the source is
 * accessed. */
static char *duplicate(const char *text, size_t most, mr_thread *thread, uintptr_t code)
{
    size_t bytes = length_up_to(text, most);
    if (thread != NULL) {
        mr_memory_read(thread, text, bytes, code);
        thread->caller = code;
    }
    mr_memory_end(thread, NULL, 0, code);
    char *copy = MR_REAL(strndup)(text, most);
    if (thread != NULL) {
        thread->caller = 0;
    }
    return copy;
}

MR_EXPORT char *strdup(const char *text)
{
    return duplicate(text, (size_t)-1 / 2, mr_memory_begin(MR_CALLER), MR_CALLER);
}

MR_EXPORT char *strndup(const char *text, size_t most)
{
    return duplicate(text, most, mr_memory_begin(MR_CALLER), MR_CALLER);
}
