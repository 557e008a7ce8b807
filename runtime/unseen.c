#include "unseen.h"

#include "real.h"
#include "state.h"
#include "sys.h"

#include <sys/syscall.h>

static bool is_told(enum mr_log_unseen unseen)
{
    return mr_rt.logging && (mr_rt.header->unseen & UINT32_C(1) << unseen) != 0;
}

/* Keeps it in the log, and says it once for each log. */
static void tell(enum mr_log_unseen unseen, const char *what)
{
    if (mr_rt.logging && !is_told(unseen)) {
        mr_rt.header->unseen |= UINT32_C(1) << unseen;
        mr_complain(what, " synchronises in ways that are not recorded: races may be false");
    }
}

void mr_unseen_thread(uintptr_t code)
{
    static const char *const names[] = {"libgomp.so", "libomp.so", "libomp5.so", "libiomp5.so"};
    Dl_info info;
    if (is_told(MR_LOG_UNSEEN_OPENMP) || dladdr((const void *)code, &info) == 0 ||
        info.dli_fname == NULL) {
        return;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (mr_is_called(info.dli_fname, names[i])) {
            mr_unseen_module(MR_LOG_UNSEEN_OPENMP);
        }
    }
}

static void tell_io_uring(void)
{
    tell(MR_LOG_UNSEEN_IO_URING, "io_uring");
}

void mr_unseen_module(enum mr_log_unseen unseen)
{
    static const char *const names[MR_LOG_UNSEEN_COUNT] = {
        [MR_LOG_UNSEEN_OPENMP] = "OpenMP", [MR_LOG_UNSEEN_ASSEMBLY] = "inline assembly",
        [MR_LOG_UNSEEN_TBB] = "TBB",       [MR_LOG_UNSEEN_GLIB] = "GLib",
        [MR_LOG_UNSEEN_QT] = "Qt",
    };
    tell(unseen, names[unseen]);
}

void mr_unseen_call(long number)
{
    if (number == SYS_io_uring_setup) {
        tell_io_uring();
    }
}

/* liburing has calls of the kernel of its own. */
#define SETS_UP(name, parameters, arguments)                                                       \
    MR_EXPORT int name parameters;                                                                 \
    int name parameters                                                                            \
    {                                                                                              \
        tell_io_uring();                                                                           \
        return MR_REAL(name) arguments;                                                            \
    }
SETS_UP(io_uring_queue_init, (unsigned entries, void *ring, unsigned flags), (entries, ring, flags))
SETS_UP(io_uring_queue_init_params, (unsigned entries, void *ring, void *setup),
        (entries, ring, setup))
#undef SETS_UP
