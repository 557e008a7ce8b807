#include "unwinder.h"

#include "real.h"
#include "scheduler.h"
#include "state.h"

#include <execinfo.h>
#include <pthread.h>
#include <threads.h>

void mr_unwinder_prepare(bool load)
{
    static bool done;
    void *frame;
    if (!done && (load || dlsym(RTLD_DEFAULT, "_Unwind_Backtrace") != NULL)) {
        done = true;
        MR_REAL(backtrace)(&frame, 1);
    }
}

static void prepare(void)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_unwinder_prepare(true);
        mr_leave(thread);
    }
}

MR_EXPORT void pthread_exit(void *value)
{
    prepare();
    MR_REAL(pthread_exit)(value);
}

MR_EXPORT void thrd_exit(int value)
{
    prepare();
    MR_REAL(thrd_exit)(value);
}
