/*
 * qt: what the files about Qt (5 and 6) have in common. The library calls its own functions directly, so only the calls from the program and
 * from other libraries are seen, and what the library asks of pthreads and the kernel. No header of Qt is needed: its objects are addresses
 * here. Where the library is recorded itself, the functions here do nothing.
 */
#ifndef MR_RUNTIME_QT_H
#define MR_RUNTIME_QT_H

#include "glib.h"

/* Is there Qt, which says its version? Another library may have functions by its names. */
bool mr_qt_is_there(void);

/* As mr_enter; NULL: call the real function. */
#define MR_QT_ENTER(name) (mr_qt_is_there() ? MR_GLIB_ENTER(name) : NULL)
/* One side of an order; nothing where the thread, or the library, is not recorded. */
#define MR_QT_ORDER(name, kind, token, code)                                                       \
    do {                                                                                           \
        if (mr_qt_is_there()) {                                                                    \
            MR_GLIB_ORDER(name, kind, token, code);                                                \
        }                                                                                          \
    } while (0)

/* The busy thread wakes others from code at this address; it ends. A thread of Qt wakes others when its function has returned: what it has
 * done comes before who finds that it has ended. */
void mr_qt_wakes(const mr_thread *thread, uintptr_t code);
void mr_qt_ends(const mr_thread *thread);

/* Parameters: QDeadlineTimer, by value, and a limit in milliseconds; negative: none. */
typedef struct mr_qt_deadline {
    int64_t seconds;
    uint32_t nanoseconds, type;
} mr_qt_deadline;
int64_t mr_qt_limit_at(mr_qt_deadline deadline);
int64_t mr_qt_limit_in(int64_t milliseconds);
int64_t mr_qt_limit_in_long(unsigned long milliseconds); /* the greatest: none */

bool mr_qt_is_5(void); /* else 6 */

#endif
