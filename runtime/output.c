/*
 * Functions of libc that fill memory of their caller in other ways than copying. Without them a
 * later read would see a value that nobody wrote; those that are left out show in the reader's
 * self-check.
 */
#include "memory.h"
#include "modules.h"
#include "real.h"
#include "scheduler.h"
#include "writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#undef fread_unlocked /* a macro */

/* After the real call, before anybody else runs: `bytes` at `written` are new. */
static void log_written(const void *written, size_t bytes, uintptr_t code)
{
    mr_thread *thread = mr_is_instrumented(code) ? mr_enter() : NULL;
    mr_memory_end(thread, written, written == NULL ? 0 : bytes, code);
}

#define FILLS(type, name, parameters, arguments, written, bytes)                                   \
    MR_EXPORT type name parameters;                                                                \
    type name parameters                                                                           \
    {                                                                                              \
        type result = MR_REAL(name) arguments;                                                     \
        log_written(written, bytes, MR_CALLER);                                                    \
        return result;                                                                             \
    }
FILLS(int, clock_getres, (clockid_t clock, struct timespec *to), (clock, to), to, sizeof *to)
FILLS(struct tm *, localtime_r, (const time_t *restrict from, struct tm *restrict to), (from, to),
      to, sizeof *to)
FILLS(struct tm *, gmtime_r, (const time_t *restrict from, struct tm *restrict to), (from, to), to,
      sizeof *to)
FILLS(time_t, mktime, (struct tm * to), (to), to, sizeof *to)
FILLS(int, stat, (const char *restrict path, struct stat *restrict to), (path, to), to, sizeof *to)
FILLS(int, lstat, (const char *restrict path, struct stat *restrict to), (path, to), to, sizeof *to)
FILLS(int, fstat, (int fd, struct stat *to), (fd, to), to, sizeof *to)
FILLS(int, fstatat, (int fd, const char *restrict path, struct stat *restrict to, int flags),
      (fd, path, to, flags), to, sizeof *to)
FILLS(int, pipe, (int to[2]), (to), to, 2 * sizeof *to)
FILLS(int, pipe2, (int to[2], int flags), (to, flags), to, 2 * sizeof *to)
FILLS(char *, getcwd, (char *to, size_t room), (to, room), result,
      result != NULL ? strlen(result) + 1 : 0)
FILLS(long, strtol, (const char *restrict from, char **restrict to, int base), (from, to, base), to,
      sizeof *to)
FILLS(unsigned long, strtoul, (const char *restrict from, char **restrict to, int base),
      (from, to, base), to, sizeof *to)
FILLS(long long, strtoll, (const char *restrict from, char **restrict to, int base),
      (from, to, base), to, sizeof *to)
FILLS(unsigned long long, strtoull, (const char *restrict from, char **restrict to, int base),
      (from, to, base), to, sizeof *to)
FILLS(double, strtod, (const char *restrict from, char **restrict to), (from, to), to, sizeof *to)
FILLS(int, rand_r, (unsigned *to), (to), to, sizeof *to)
FILLS(size_t, fread, (void *restrict to, size_t size, size_t count, FILE *restrict file),
      (to, size, count, file), to, result *size)
FILLS(size_t, fread_unlocked, (void *restrict to, size_t size, size_t count, FILE *restrict file),
      (to, size, count, file), to, result *size)
FILLS(char *, fgets, (char *restrict to, int room, FILE *restrict file), (to, room, file), result,
      result != NULL ? strlen(to) + 1 : 0)
FILLS(size_t, strftime,
      (char *restrict to, size_t room, const char *restrict format, const struct tm *restrict from),
      (to, room, format, from), to, result > 0 ? result + 1 : 0)
FILLS(ssize_t, readlink, (const char *restrict path, char *restrict to, size_t room),
      (path, to, room), to, result > 0 ? (size_t)result : 0)
FILLS(int, gethostname, (char *to, size_t room), (to, room), to, result == 0 ? strlen(to) + 1 : 0)
FILLS(ssize_t, getrandom, (void *to, size_t bytes, unsigned flags), (to, bytes, flags), to,
      result > 0 ? (size_t)result : 0)
#undef FILLS

/* What was written of `room` bytes by a print of `length` characters. */
static size_t printed(int length, size_t room)
{
    size_t bytes = length < 0 ? 0 : (size_t)length + 1;
    return bytes < room ? bytes : room;
}

#define PRINTS(name, parameters, last, call, room)                                                 \
    MR_EXPORT int name parameters;                                                                 \
    int name parameters                                                                            \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, last);                                                                 \
        int result = MR_REAL call;                                                                 \
        va_end(arguments);                                                                         \
        log_written(to, printed(result, room), MR_CALLER);                                         \
        return result;                                                                             \
    }
#define VPRINTS(name, parameters, call, room)                                                      \
    MR_EXPORT int name parameters;                                                                 \
    int name parameters                                                                            \
    {                                                                                              \
        int result = MR_REAL call;                                                                 \
        log_written(to, printed(result, room), MR_CALLER);                                         \
        return result;                                                                             \
    }

extern int __vsprintf_chk(char *to, int flag, size_t room, const char *format, va_list arguments);
extern int __vsnprintf_chk(char *to, size_t most, int flag, size_t room, const char *format,
                           va_list arguments);

PRINTS(sprintf, (char *restrict to, const char *restrict format, ...), format,
       (vsprintf)(to, format, arguments), SIZE_MAX)
PRINTS(snprintf, (char *restrict to, size_t room, const char *restrict format, ...), format,
       (vsnprintf)(to, room, format, arguments), room)
PRINTS(__sprintf_chk, (char *to, int flag, size_t room, const char *format, ...), format,
       (__vsprintf_chk)(to, flag, room, format, arguments), room)
PRINTS(__snprintf_chk, (char *to, size_t most, int flag, size_t room, const char *format, ...),
       format, (__vsnprintf_chk)(to, most, flag, room, format, arguments), most)
VPRINTS(vsprintf, (char *restrict to, const char *restrict format, va_list arguments),
        (vsprintf)(to, format, arguments), SIZE_MAX)
VPRINTS(vsnprintf, (char *restrict to, size_t room, const char *restrict format, va_list arguments),
        (vsnprintf)(to, room, format, arguments), room)
VPRINTS(__vsprintf_chk, (char *to, int flag, size_t room, const char *format, va_list arguments),
        (__vsprintf_chk)(to, flag, room, format, arguments), room)
VPRINTS(__vsnprintf_chk,
        (char *to, size_t most, int flag, size_t room, const char *format, va_list arguments),
        (__vsnprintf_chk)(to, most, flag, room, format, arguments), most)
#undef PRINTS
#undef VPRINTS

/* A line in a block that getline may have made anew; its variables are written, too. */
MR_EXPORT ssize_t getdelim(char **restrict line, size_t *restrict room, int end,
                           FILE *restrict file)
{
    ssize_t result = MR_REAL(getdelim)(line, room, end, file);
    log_written(line, sizeof *line, MR_CALLER);
    log_written(room, sizeof *room, MR_CALLER);
    log_written(*line, result > 0 ? (size_t)result + 1 : 0, MR_CALLER);
    return result;
}

MR_EXPORT ssize_t getline(char **restrict line, size_t *restrict room, FILE *restrict file)
{
    ssize_t result = MR_REAL(getline)(line, room, file);
    log_written(line, sizeof *line, MR_CALLER);
    log_written(room, sizeof *room, MR_CALLER);
    log_written(*line, result > 0 ? (size_t)result + 1 : 0, MR_CALLER);
    return result;
}

MR_EXPORT size_t fwrite(const void *restrict from, size_t size, size_t count, FILE *restrict file)
{
    mr_thread *thread = mr_memory_begin(MR_CALLER);
    mr_memory_read(thread, from, size * count, MR_CALLER);
    mr_memory_end(thread, NULL, 0, MR_CALLER);
    return MR_REAL(fwrite)(from, size, count, file);
}
