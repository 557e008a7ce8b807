#include "glib.h"

#include "sys.h"
#include "writer.h"

const void *mr_glib_token(void)
{
    enum { BYTES = 4096 };
    static char *next, *end;
    if (next == end) {
        next = mr_pages(BYTES);
        end = next != NULL ? next + BYTES : NULL;
    }
    return next != NULL ? next++ : NULL;
}

/* Where there is no object the call does nothing. */
static bool is_object(const void *token)
{
    enum { LOWEST = 4096 };
    return (uintptr_t)token >= LOWEST;
}

void mr_glib_order(mr_log_kind kind, const void *token, uintptr_t code)
{
    mr_thread *thread = is_object(token) ? mr_enter() : NULL;
    if (thread != NULL) {
        mr_write_object(kind, MR_LOG_ROLE_NONE, token, code, 0, 0);
        mr_leave(thread);
    }
}

void mr_glib_lend_caller(uintptr_t code)
{
    if (mr_self != NULL && mr_self->caller == 0) {
        mr_self->caller = code;
    }
}

void mr_glib_take_back_caller(uintptr_t code)
{
    if (mr_self != NULL && mr_self->caller == code) {
        mr_self->caller = 0;
    }
}
