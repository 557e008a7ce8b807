/* The functions that print by a format: what they read of the program's texts, what %n writes. */
#include "calls.h"
#include "format.h"

#include <limits.h>
#include <stdlib.h>

extern int __vprintf_chk(int flag, const char *format, va_list arguments);
extern int __vfprintf_chk(FILE *file, int flag, const char *format, va_list arguments);
extern int __vdprintf_chk(int fd, int flag, const char *format, va_list arguments);
extern int __vasprintf_chk(char **to, int flag, const char *format, va_list arguments);
extern int __vsprintf_chk(char *to, int flag, size_t room, const char *format, va_list arguments);
extern int __vsnprintf_chk(char *to, size_t most, int flag, size_t room, const char *format,
                           va_list arguments);
extern int __vwprintf_chk(int flag, const wchar_t *format, va_list arguments);
extern int __vfwprintf_chk(FILE *file, int flag, const wchar_t *format, va_list arguments);
extern int __vswprintf_chk(wchar_t *to, size_t most, int flag, size_t room, const wchar_t *format,
                           va_list arguments);

/* Bytes of wide characters that make at most `most` bytes of text. */
static size_t wide_for(const wchar_t *from, size_t most)
{
    size_t made = 0;
    size_t count = 0;
    mbstate_t state = {0};
    char room[MB_LEN_MAX];
    while (made < most && from[count] != L'\0') {
        size_t bytes = MR_REAL(wcrtomb)(room, from[count], &state);
        if (bytes == (size_t)-1) {
            break;
        }
        made += bytes;
        count++;
    }
    return (made < most ? count + 1 : count) * sizeof *from;
}

/* Bytes of the text that is printed: up to its end or the precision. */
static size_t printed_bytes(const mr_format *format, const mr_format_use *use, bool wide_format)
{
    const void *from = format->value[use->argument].pointer;
    int64_t limit =
        use->limit_from < 0 ? (int64_t)use->limit : format->value[use->limit_from].number;
    bool limited = use->has_limit && limit >= 0;
    if (from == NULL) {
        return 0;
    }
    if (use->memory == MR_FORMAT_TEXT) {
        return limited ? text_up_to(from, (size_t)limit) : text(from);
    }
    if (!limited) {
        return wide(from);
    }
    return wide_format ? wide_up_to(from, (size_t)limit) : wide_for(from, (size_t)limit);
}

static void log_reads(mr_format *format, mr_format_text from, va_list arguments, uintptr_t code)
{
    va_list copy;
    va_copy(copy, arguments);
    mr_format_take(format, copy);
    va_end(copy);
    in(from.text, from.wide ? wide(from.text) : text(from.text));
    for (unsigned i = 0; i < format->uses; i++) {
        const mr_format_use *use = &format->use[i];
        if (use->memory != MR_FORMAT_COUNT) {
            in(format->value[use->argument].pointer, printed_bytes(format, use, from.wide));
        }
    }
}

static void log_counts(const mr_format *format, uintptr_t code)
{
    for (unsigned i = 0; i < format->uses; i++) {
        const mr_format_use *use = &format->use[i];
        if (use->memory == MR_FORMAT_COUNT) {
            out(format->value[use->argument].pointer, use->bytes);
        }
    }
}

/* A call that prints, from its begin to its end. */
typedef struct print {
    mr_thread *thread; /* NULL: it is not recorded */
    uintptr_t code;
    mr_format format;
} print;

static void begin(print *call, mr_format_text format, va_list arguments)
{
    call->thread = mr_memory_begin(call->code);
    if (call->thread != NULL) {
        mr_format_of_print(&call->format, format);
        mr_libc_begins(call->thread);
        log_reads(&call->format, format, arguments, call->code);
        mr_libc_is_made(call->thread);
    }
}

/* To a stream, a descriptor, or a new block: others may run meanwhile. */
static void begin_open(print *call, mr_format_text format, FILE *file, va_list arguments)
{
    begin(call, format, arguments);
    if (call->thread != NULL) {
        mr_libc_use(file, call->code);
        mr_libc_channel(MR_LOG_BEFORE, file, call->code);
        mr_libc_leave(call->thread, call->code);
    }
}

static void end(print *call, int result)
{
    if (call->thread != NULL) {
        if (result >= 0) {
            log_counts(&call->format, call->code);
        }
        mr_leave(call->thread);
    }
}

static void end_open(print *call, int result)
{
    call->thread = call->thread != NULL ? mr_libc_return(call->thread) : NULL;
    end(call, result);
}

/* `bytes` of a text of `length` elements and its end, in as many as there is room for. */
static void end_in(print *call, int length, void *to, size_t room, size_t size)
{
    if (call->thread != NULL) {
        size_t elements = length < 0 ? 0 : (size_t)length + 1;
        mr_libc_access(MR_LOG_RANGE_WRITE, to, (elements < room ? elements : room) * size,
                       call->code);
    }
    end(call, length);
}

static void end_block(print *call, int length, char **to)
{
    call->thread = call->thread != NULL ? mr_libc_return(call->thread) : NULL;
    if (call->thread != NULL && length >= 0) {
        mr_libc_access(MR_LOG_RANGE_WRITE, to, sizeof *to, call->code);
        mr_libc_access(MR_LOG_RANGE_WRITE, *to, (size_t)length + 1, call->code);
    }
    end(call, length);
}

#define NARROW                                                                                     \
    (mr_format_text)                                                                               \
    {                                                                                              \
        format, false                                                                              \
    }
#define WIDE                                                                                       \
    (mr_format_text)                                                                               \
    {                                                                                              \
        format, true                                                                               \
    }

/* Both forms of a function: with its arguments, and with a list of them. */
#define PRINTS(name, vname, parameters, list_parameters, values, begin, end)                       \
    MR_EXPORT int vname list_parameters;                                                           \
    int vname list_parameters                                                                      \
    {                                                                                              \
        print call;                                                                                \
        call.code = MR_CALLER;                                                                     \
        begin;                                                                                     \
        int result = MR_REAL(vname) values;                                                        \
        end;                                                                                       \
        return result;                                                                             \
    }                                                                                              \
    MR_EXPORT int name parameters;                                                                 \
    int name parameters                                                                            \
    {                                                                                              \
        print call;                                                                                \
        va_list arguments;                                                                         \
        call.code = MR_CALLER;                                                                     \
        va_start(arguments, format);                                                               \
        begin;                                                                                     \
        int result = MR_REAL(vname) values;                                                        \
        end;                                                                                       \
        va_end(arguments);                                                                         \
        return result;                                                                             \
    }

#define TO_STREAM(name, vname, parameters, list_parameters, values, text, file)                    \
    PRINTS(name, vname, parameters, list_parameters, values,                                       \
           begin_open(&call, text, file, arguments), end_open(&call, result))
#define TO_MEMORY(name, vname, parameters, list_parameters, values, text, room)                    \
    PRINTS(name, vname, parameters, list_parameters, values, begin(&call, text, arguments),        \
           end_in(&call, result, to, room, sizeof *to))
#define TO_BLOCK(name, vname, parameters, list_parameters, values)                                 \
    PRINTS(name, vname, parameters, list_parameters, values,                                       \
           begin_open(&call, NARROW, NULL, arguments), end_block(&call, result, to))

TO_STREAM(printf, vprintf, (const char *restrict format, ...),
          (const char *restrict format, va_list arguments), (format, arguments), NARROW, stdout)
TO_STREAM(fprintf, vfprintf, (FILE *restrict file, const char *restrict format, ...),
          (FILE *restrict file, const char *restrict format, va_list arguments),
          (file, format, arguments), NARROW, file)
TO_STREAM(dprintf, vdprintf, (int fd, const char *restrict format, ...),
          (int fd, const char *restrict format, va_list arguments), (fd, format, arguments), NARROW,
          NULL)
TO_STREAM(__printf_chk, __vprintf_chk, (int flag, const char *format, ...),
          (int flag, const char *format, va_list arguments), (flag, format, arguments), NARROW,
          stdout)
TO_STREAM(__fprintf_chk, __vfprintf_chk, (FILE * file, int flag, const char *format, ...),
          (FILE * file, int flag, const char *format, va_list arguments),
          (file, flag, format, arguments), NARROW, file)
TO_STREAM(__dprintf_chk, __vdprintf_chk, (int fd, int flag, const char *format, ...),
          (int fd, int flag, const char *format, va_list arguments), (fd, flag, format, arguments),
          NARROW, NULL)
TO_STREAM(wprintf, vwprintf, (const wchar_t *restrict format, ...),
          (const wchar_t *restrict format, va_list arguments), (format, arguments), WIDE, stdout)
TO_STREAM(fwprintf, vfwprintf, (FILE *restrict file, const wchar_t *restrict format, ...),
          (FILE *restrict file, const wchar_t *restrict format, va_list arguments),
          (file, format, arguments), WIDE, file)
TO_STREAM(__wprintf_chk, __vwprintf_chk, (int flag, const wchar_t *format, ...),
          (int flag, const wchar_t *format, va_list arguments), (flag, format, arguments), WIDE,
          stdout)
TO_STREAM(__fwprintf_chk, __vfwprintf_chk, (FILE * file, int flag, const wchar_t *format, ...),
          (FILE * file, int flag, const wchar_t *format, va_list arguments),
          (file, flag, format, arguments), WIDE, file)

TO_MEMORY(sprintf, vsprintf, (char *restrict to, const char *restrict format, ...),
          (char *restrict to, const char *restrict format, va_list arguments),
          (to, format, arguments), NARROW, SIZE_MAX)
TO_MEMORY(snprintf, vsnprintf, (char *restrict to, size_t room, const char *restrict format, ...),
          (char *restrict to, size_t room, const char *restrict format, va_list arguments),
          (to, room, format, arguments), NARROW, room)
TO_MEMORY(__sprintf_chk, __vsprintf_chk, (char *to, int flag, size_t room, const char *format, ...),
          (char *to, int flag, size_t room, const char *format, va_list arguments),
          (to, flag, room, format, arguments), NARROW, room)
TO_MEMORY(__snprintf_chk, __vsnprintf_chk,
          (char *to, size_t most, int flag, size_t room, const char *format, ...),
          (char *to, size_t most, int flag, size_t room, const char *format, va_list arguments),
          (to, most, flag, room, format, arguments), NARROW, most)
TO_MEMORY(swprintf, vswprintf,
          (wchar_t *restrict to, size_t room, const wchar_t *restrict format, ...),
          (wchar_t *restrict to, size_t room, const wchar_t *restrict format, va_list arguments),
          (to, room, format, arguments), WIDE, room)
TO_MEMORY(__swprintf_chk, __vswprintf_chk,
          (wchar_t * to, size_t most, int flag, size_t room, const wchar_t *format, ...),
          (wchar_t * to, size_t most, int flag, size_t room, const wchar_t *format,
           va_list arguments),
          (to, most, flag, room, format, arguments), WIDE, most)

TO_BLOCK(asprintf, vasprintf, (char **restrict to, const char *restrict format, ...),
         (char **restrict to, const char *restrict format, va_list arguments),
         (to, format, arguments))
TO_BLOCK(__asprintf_chk, __vasprintf_chk, (char **to, int flag, const char *format, ...),
         (char **to, int flag, const char *format, va_list arguments),
         (to, flag, format, arguments))
