/*
 * The signal interfaces of System V and BSD. In libc they change handlers and masks by calls that nobody sees from outside.
 */
#include "signals.h"

#include <errno.h>
#include <stddef.h>

/* The masks of BSD have the first signals. */
static sigset_t set_of(int mask)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < 32; i++) {
        if (((unsigned)mask >> i & 1) != 0) {
            sigaddset(&set, i + 1);
        }
    }
    return set;
}

static int mask_of(const sigset_t *set)
{
    unsigned mask = 0;
    for (int i = 0; i < 32; i++) {
        mask |= sigismember(set, i + 1) == 1 ? 1U << i : 0;
    }
    return (int)mask;
}

/* One signal only. */
static int change_one(int how, int number, sigset_t *old)
{
    sigset_t set;
    sigemptyset(&set);
    return sigaddset(&set, number) == 0 ? mr_signal_mask(how, &set, old) : -1;
}

MR_EXPORT sighandler_t sigset(int number, sighandler_t handler)
{
    struct sigaction action = {.sa_flags = 0};
    struct sigaction old = {.sa_flags = 0};
    sigset_t mask;
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    sigemptyset(&mask);
    if (sigaddset(&mask, number) != 0 ||
        mr_signal_action(number, handler == SIG_HOLD ? NULL : &action, &old, MR_CALLER) != 0 ||
        change_one(handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, number, &mask) != 0) {
        return SIG_ERR;
    }
    return sigismember(&mask, number) == 1 ? SIG_HOLD : old.sa_handler;
}

MR_EXPORT int sighold(int number)
{
    return change_one(SIG_BLOCK, number, NULL);
}

MR_EXPORT int sigrelse(int number)
{
    return change_one(SIG_UNBLOCK, number, NULL);
}

MR_EXPORT int sigignore(int number)
{
    struct sigaction action = {.sa_flags = 0};
    action.sa_handler = SIG_IGN;
    sigemptyset(&action.sa_mask);
    return mr_signal_action(number, &action, NULL, MR_CALLER);
}

/* Whether the signal ends calls that wait. */
MR_EXPORT int siginterrupt(int number, int ends)
{
    struct sigaction action;
    if (mr_signal_action(number, NULL, &action, MR_CALLER) != 0) {
        return -1;
    }
    mr_signal_interrupts(number, ends);
    action.sa_flags = ends ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
    return mr_signal_action(number, &action, NULL, MR_CALLER);
}

MR_EXPORT int sigblock(int mask)
{
    sigset_t set = set_of(mask), old;
    return mr_signal_mask(SIG_BLOCK, &set, &old) == 0 ? mask_of(&old) : -1;
}

MR_EXPORT int sigsetmask(int mask)
{
    sigset_t set = set_of(mask), old;
    return mr_signal_mask(SIG_SETMASK, &set, &old) == 0 ? mask_of(&old) : -1;
}

/* Waits for a signal with this one let through, or with this mask. */
MR_EXPORT int __sigpause(int number_or_mask, int is_number);
int __sigpause(int number_or_mask, int is_number)
{
    sigset_t set;
    if (!is_number) {
        set = set_of(number_or_mask);
    } else if (mr_signal_mask(SIG_BLOCK, NULL, &set) != 0 || sigdelset(&set, number_or_mask) != 0) {
        return -1;
    }
    return sigsuspend(&set);
}

MR_EXPORT int __xpg_sigpause(int number);
int __xpg_sigpause(int number)
{
    return __sigpause(number, true);
}
