/*
 * glib: what the files about GLib have in common. GLib calls its own functions directly, so what its library does inside is not
 * seen: only the calls from the program and other libraries are. Where the library is recorded itself, its accesses say all, and the
 * functions here do nothing. No header of GLib is needed: its objects are addresses here.
 */
#ifndef MR_RUNTIME_GLIB_H
#define MR_RUNTIME_GLIB_H

#include "modules.h"
#include "real.h"
#include "scheduler.h"

/* As mr_enter; NULL: call the real function. */
#define MR_GLIB_ENTER(name) (mr_is_instrumented((uintptr_t)MR_REAL(name)) ? NULL : mr_enter())

/* A place that no memory of the program has, and that is not given again: its BEFORE and AFTER are of one order. */
const void *mr_glib_token(void);

/* One side of an order; nothing where the thread is not recorded. */
void mr_glib_order(mr_log_kind kind, const void *token, uintptr_t code);
/* The same where the function's library is not recorded. */
#define MR_GLIB_ORDER(name, kind, token, code)                                                     \
    do {                                                                                           \
        if (!mr_is_instrumented((uintptr_t)MR_REAL(name))) {                                       \
            mr_glib_order(kind, token, code);                                                      \
        }                                                                                          \
    } while (0)

/* The first block that the library allocates, or frees, from here on is the caller's, until that is taken back. */
void mr_glib_lend_caller(uintptr_t code);
void mr_glib_take_back_caller(uintptr_t code);

#endif
