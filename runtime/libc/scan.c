/*
 * The functions that scan by a format: what they write of each conversion that succeeded. Some
 * systems and standards know %a as a flag, others as a number: two names for each function.
 */
#include "calls.h"
#include "format.h"

#include <string.h>

typedef struct scan {
    mr_thread *thread;
    uintptr_t code;
    FILE *file; /* NULL: a text */
    mr_format format;
    int64_t counts[MR_FORMAT_MAX]; /* what %n writes to, before the call */
} scan;

static int64_t count_at(const scan *call, unsigned i)
{
    const mr_format_use *use = &call->format.use[i];
    int64_t count = 0;
    MR_REAL(memcpy)(&count, call->format.value[use->argument].pointer, use->bytes);
    return count;
}

/* Of a %n the result does not tell whether it was reached, when what is between it and the last
 * conversion may not match. Then it was if its value is another. */
static bool was_reached(const scan *call, unsigned i, unsigned succeeded)
{
    const mr_format_use *use = &call->format.use[i];
    return use->before < succeeded || (use->memory == MR_FORMAT_COUNT && use->before == succeeded &&
                                       (use->assured || count_at(call, i) != call->counts[i]));
}

static void log_block(const mr_format_use *use, void *const *to, uintptr_t code)
{
    bool is_wide = use->memory == MR_FORMAT_WIDE_BLOCK;
    out(to, sizeof *to);
    if (use->has_limit) {
        out(*to, use->limit * use->bytes);
    } else {
        out(*to, is_wide ? wide(*to) : text(*to));
    }
}

static void log_use(const mr_format *format, const mr_format_use *use, uintptr_t code)
{
    void *to = format->value[use->argument].pointer;
    switch ((mr_format_memory)use->memory) {
    case MR_FORMAT_TEXT:
        out(to, text(to));
        break;
    case MR_FORMAT_WIDE:
        out(to, wide(to));
        break;
    case MR_FORMAT_COUNT:
    case MR_FORMAT_BYTES:
        out(to, use->bytes);
        break;
    case MR_FORMAT_BLOCK:
    case MR_FORMAT_WIDE_BLOCK:
        log_block(use, to, code);
        break;
    }
}

/* A text and its end. */
static size_t bytes_of(mr_format_text from)
{
    return from.wide ? wide(from.text) : text(from.text);
}

static void begin(scan *call, mr_format_text format, bool c99, FILE *file, mr_format_text from,
                  va_list arguments)
{
    const uintptr_t code = call->code;
    call->thread = mr_memory_begin(code);
    call->file = file;
    if (call->thread == NULL) {
        return;
    }
    mr_format_of_scan(&call->format, format, c99);
    mr_format_take(&call->format, arguments);
    for (unsigned i = 0; i < call->format.uses; i++) {
        if (call->format.use[i].memory == MR_FORMAT_COUNT) {
            call->counts[i] = count_at(call, i);
        }
    }
    in(format.text, bytes_of(format));
    in(from.text, bytes_of(from));
    mr_libc_use(file, code);
    mr_libc_await(file);
    mr_libc_leave(call->thread, code);
}

static void end(scan *call, int result)
{
    call->thread = call->thread != NULL ? mr_libc_return(call->thread) : NULL;
    if (call->thread == NULL) {
        return;
    }
    for (unsigned i = 0; i < call->format.uses; i++) {
        if (was_reached(call, i, result < 0 ? 0 : (unsigned)result)) {
            log_use(&call->format, &call->format.use[i], call->code);
        }
    }
    mr_libc_channel(MR_LOG_AFTER, call->file, call->code);
    mr_leave(call->thread);
}

#define NARROW                                                                                     \
    (mr_format_text)                                                                               \
    {                                                                                              \
        format, false                                                                              \
    }
#define NOTHING                                                                                    \
    (mr_format_text)                                                                               \
    {                                                                                              \
        NULL, false                                                                                \
    }
#define WIDE                                                                                       \
    (mr_format_text)                                                                               \
    {                                                                                              \
        format, true                                                                               \
    }

/* Both forms of a function: with its arguments, and with a list of them. <stdio.h> puts other names
 * behind those of the standard, so these are called otherwise here. */
#define SCANS(name, vname, c99, parameters, list_parameters, values, text, file, from)             \
    extern int mr_##vname list_parameters __asm__(#vname);                                         \
    MR_EXPORT int mr_##vname list_parameters                                                       \
    {                                                                                              \
        scan call;                                                                                 \
        va_list again;                                                                             \
        va_copy(again, arguments);                                                                 \
        call.code = MR_CALLER;                                                                     \
        begin(&call, text, c99, file, from, again);                                                \
        int result = MR_REAL_FOUND(mr_##vname, mr_real_find(#vname)) values;                       \
        end(&call, result);                                                                        \
        va_end(again);                                                                             \
        return result;                                                                             \
    }                                                                                              \
    extern int mr_##name parameters __asm__(#name);                                                \
    MR_EXPORT int mr_##name parameters                                                             \
    {                                                                                              \
        scan call;                                                                                 \
        va_list arguments;                                                                         \
        va_list again;                                                                             \
        va_start(arguments, format);                                                               \
        va_copy(again, arguments);                                                                 \
        call.code = MR_CALLER;                                                                     \
        begin(&call, text, c99, file, from, again);                                                \
        int result = MR_REAL_FOUND(mr_##vname, mr_real_find(#vname)) values;                       \
        end(&call, result);                                                                        \
        va_end(again);                                                                             \
        va_end(arguments);                                                                         \
        return result;                                                                             \
    }

SCANS(scanf, vscanf, false, (const char *format, ...), (const char *format, va_list arguments),
      (format, arguments), NARROW, stdin, NOTHING)
SCANS(fscanf, vfscanf, false, (FILE * file, const char *format, ...),
      (FILE * file, const char *format, va_list arguments), (file, format, arguments), NARROW, file,
      NOTHING)
SCANS(sscanf, vsscanf, false, (const char *from, const char *format, ...),
      (const char *from, const char *format, va_list arguments), (from, format, arguments), NARROW,
      NULL, ((mr_format_text){from, false}))
SCANS(wscanf, vwscanf, false, (const wchar_t *format, ...),
      (const wchar_t *format, va_list arguments), (format, arguments), WIDE, stdin, NOTHING)
SCANS(fwscanf, vfwscanf, false, (FILE * file, const wchar_t *format, ...),
      (FILE * file, const wchar_t *format, va_list arguments), (file, format, arguments), WIDE,
      file, NOTHING)
SCANS(swscanf, vswscanf, false, (const wchar_t *from, const wchar_t *format, ...),
      (const wchar_t *from, const wchar_t *format, va_list arguments), (from, format, arguments),
      WIDE, NULL, ((mr_format_text){from, true}))
SCANS(__isoc99_scanf, __isoc99_vscanf, true, (const char *format, ...),
      (const char *format, va_list arguments), (format, arguments), NARROW, stdin, NOTHING)
SCANS(__isoc99_fscanf, __isoc99_vfscanf, true, (FILE * file, const char *format, ...),
      (FILE * file, const char *format, va_list arguments), (file, format, arguments), NARROW, file,
      NOTHING)
SCANS(__isoc99_sscanf, __isoc99_vsscanf, true, (const char *from, const char *format, ...),
      (const char *from, const char *format, va_list arguments), (from, format, arguments), NARROW,
      NULL, ((mr_format_text){from, false}))
SCANS(__isoc99_wscanf, __isoc99_vwscanf, true, (const wchar_t *format, ...),
      (const wchar_t *format, va_list arguments), (format, arguments), WIDE, stdin, NOTHING)
SCANS(__isoc99_fwscanf, __isoc99_vfwscanf, true, (FILE * file, const wchar_t *format, ...),
      (FILE * file, const wchar_t *format, va_list arguments), (file, format, arguments), WIDE,
      file, NOTHING)
SCANS(__isoc99_swscanf, __isoc99_vswscanf, true, (const wchar_t *from, const wchar_t *format, ...),
      (const wchar_t *from, const wchar_t *format, va_list arguments), (from, format, arguments),
      WIDE, NULL, ((mr_format_text){from, true}))
