/*
 * __tsan_testonly_barrier: makes threads of a test meet, and the recording does not see it. Programs
 * that test detectors of races use it to choose an order without synchronisation.
 */
#include "scheduler.h"
#include "sys.h"
#include "tsan.h"

#include <sys/syscall.h>
#include <time.h>

/* How the program's word is used: threads wanted in the lower half, threads that came in the upper
 * one. */
enum { CAME_SHIFT = 32 };

void __tsan_testonly_barrier_init(uint64_t *barrier, unsigned count)
{
    *barrier = count;
}

static void wait_unrecorded(uint64_t *barrier, uint64_t wanted, uint64_t round)
{
    struct timespec pause = {.tv_nsec = 1000000};
    while ((__atomic_load_n(barrier, __ATOMIC_ACQUIRE) >> CAME_SHIFT) / wanted == round) {
        mr_sys(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
    }
}

void __tsan_testonly_barrier_wait(uint64_t *barrier)
{
    mr_thread *thread = mr_enter();
    uint64_t before = __atomic_fetch_add(barrier, 1ull << CAME_SHIFT, __ATOMIC_ACQ_REL);
    uint64_t wanted = (uint32_t)before != 0 ? (uint32_t)before : 1;
    uint64_t round = (before >> CAME_SHIFT) / wanted;
    if (thread == NULL) {
        wait_unrecorded(barrier, wanted, round);
        return;
    }
    mr_wake_key(barrier);
    while ((__atomic_load_n(barrier, __ATOMIC_ACQUIRE) >> CAME_SHIFT) / wanted == round) {
        if (mr_block(thread, barrier, MR_NEVER, false) == MR_INTERRUPTED) {
            mr_attend(thread);
        }
    }
    mr_leave(thread);
}
