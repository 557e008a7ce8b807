#include "calls.h"

#include <iconv.h>
#include <libintl.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/time.h>
#include <sys/timeb.h>
#include <time.h>
#include <unistd.h>

/* Behind all others: it defines MR_CALLER anew. */
#include "../direct.h"

/* Of a conversion between texts: where both are before it. Without a source it writes what ends the
 * text, and reads nothing. */
#define remember_texts                                                                             \
    const char *source = from != NULL ? *from : NULL;                                              \
    const char *target = to != NULL ? *to : NULL;

/* Which members a format sets is not looked at: those that have changed were written. */
#define remember_time   const struct tm remembered = *to;
#define out_changed(to) log_changed(to, &remembered, code);

static void log_changed(const struct tm *to, const struct tm *before, uintptr_t code)
{
    const int *const members[] = {&to->tm_sec,  &to->tm_min,  &to->tm_hour,
                                  &to->tm_mday, &to->tm_mon,  &to->tm_year,
                                  &to->tm_wday, &to->tm_yday, &to->tm_isdst};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const char *old = (const char *)before + ((const char *)members[i] - (const char *)to);
        out_if(*members[i] != *(const int *)(const void *)old, members[i], sizeof *members[i]);
    }
}

/* An input without a result. */
MR_EXPORT void arc4random_buf(void *to, size_t bytes)
{
    uintptr_t code = MR_CALLER;
    int64_t fed;
    mr_thread *thread = mr_libc_input_begin(&code);
    if (thread == NULL) {
        MR_REAL(arc4random_buf)(to, bytes);
        return;
    }
    mr_libc_begins(thread);
    mr_libc_is_made(thread);
    if (!mr_input_call(thread, "arc4random_buf", &fed)) {
        MR_REAL(arc4random_buf)(to, bytes);
    }
    out(to, bytes);
    mr_input_called(thread, 0);
    mr_leave(thread);
}

/* Programs may call ftime still. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include "time.def"

/* Also by syscall(). */
MR_DIRECT(getrandom)
