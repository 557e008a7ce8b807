#include "signals.h"

#include "ignore.h"
#include "input_signals.h"
#include "memory.h"
#include "real.h"
#include "scheduler.h"
#include "steer.h"
#include "sys.h"
#include "writer.h"

#include <errno.h>
#include <signal.h>
#include <ucontext.h>

/* What the program asked for; [0] is not used. Changed with the baton held. */
static struct sigaction handlers[MR_SIGNALS_MAX];
static bool last_restarts;

typedef void (*info_handler)(int, siginfo_t *, void *);

static bool is_handler(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

static void call_handler(const struct sigaction *action, int number, siginfo_t *info, void *context)
{
    if (action->sa_flags & SA_SIGINFO) {
        ((info_handler)action->sa_sigaction)(number, info, context);
    } else if (is_handler(action)) {
        action->sa_handler(number);
    }
}

/* With the baton held and not busy: the handler's events are logged. What the thread asked not to be
 * recorded is its own, not the handler's: what the handler does may order other threads. */
static void run_handler(mr_thread *thread, int number, siginfo_t *info, void *context)
{
    struct sigaction action = handlers[number];
    mr_ignores ignores = thread->ignores;
    uint8_t busy = thread->busy;
    int saved_errno = errno;
    mr_ignore(thread, -ignores.reads, -ignores.writes, -ignores.sync);
    mr_write_object(MR_LOG_SIGNAL_BEGIN, 0, (void *)(uintptr_t)action.sa_handler, 0, 0,
                    (uint64_t)number);
    mr_write_object(MR_LOG_AFTER, MR_LOG_ROLE_SIGNAL, (void *)(intptr_t)number, 0, 0, 0);
    if (action.sa_flags & (int)SA_RESETHAND) {
        handlers[number].sa_handler = SIG_DFL;
    }
    last_restarts = (action.sa_flags & SA_RESTART) != 0;
    thread->handlers++;
    thread->busy = 0;
    call_handler(&action, number, info, context);
    thread->busy = 1;
    if (thread->attention & MR_ATTENTION_LOST) {
        mr_attend(thread);
    }
    thread->busy = busy;
    thread->handlers--;
    mr_write_object(MR_LOG_SIGNAL_END, 0, NULL, 0, 0, (uint64_t)number);
    mr_ignore(thread, ignores.reads, ignores.writes, ignores.sync);
    errno = saved_errno;
}

/* A fault, abort, or a signal that the thread sends to itself. */
static bool is_own(const mr_thread *thread, int number, const siginfo_t *info)
{
    if (info->si_code > 0 && (number == SIGSEGV || number == SIGBUS || number == SIGFPE ||
                              number == SIGILL || number == SIGTRAP || number == SIGSYS)) {
        return true;
    }
    return number == SIGABRT || thread->raising;
}

/* The kernel queues real-time signals, and a thread has room for one of each number. So it blocks the number until that one is
 * handled, and the kernel keeps those that follow. */
static void hold(mr_thread *thread, int number, ucontext_t *context)
{
    if (number >= SIGRTMIN && sigismember(&context->uc_sigmask, number) == 0) {
        sigaddset(&context->uc_sigmask, number);
        thread->held |= (uint64_t)1 << (number - 1);
    }
}

static void let_through(mr_thread *thread, int number, sigset_t *mask)
{
    uint64_t bit = (uint64_t)1 << (number - 1);
    if (thread->held & bit) {
        thread->held &= ~bit;
        sigdelset(mask, number);
    }
}

/* The program changes its mask: it decides about the signals that it names. Returns what was held before. */
static uint64_t forget_held(mr_thread *thread, int how, const sigset_t *set)
{
    uint64_t held = thread->held;
    for (uint64_t left = set != NULL ? held : 0; left != 0; left &= left - 1) {
        if (how == SIG_SETMASK || sigismember(set, __builtin_ctzll(left) + 1) == 1) {
            thread->held &= ~(left & -left);
        }
    }
    return held;
}

static void hide_held(uint64_t held, sigset_t *old)
{
    for (; held != 0; held &= held - 1) {
        sigdelset(old, __builtin_ctzll(held) + 1);
    }
}

uint64_t mr_signals_block_all(mr_thread *thread, sigset_t *mask)
{
    sigset_t all;
    sigfillset(&all);
    MR_REAL(pthread_sigmask)(SIG_SETMASK, &all, mask);
    uint64_t held = thread->held;
    thread->held = 0; /* all stay blocked when one is handled */
    hide_held(held, mask);
    return held;
}

void mr_signals_let_in(mr_thread *thread, uint64_t held, sigset_t mask)
{
    thread->held = held & thread->signals; /* the others are handled */
    for (uint64_t left = thread->held; left != 0; left &= left - 1) {
        sigaddset(&mask, __builtin_ctzll(left) + 1);
    }
    MR_REAL(pthread_sigmask)(SIG_SETMASK, &mask, NULL);
}

void mr_signals_forget(mr_thread *thread)
{
    sigset_t held;
    sigemptyset(&held);
    for (uint64_t left = thread->held; left != 0; left &= left - 1) {
        sigaddset(&held, __builtin_ctzll(left) + 1);
    }
    thread->held = 0;
    MR_REAL(pthread_sigmask)(SIG_UNBLOCK, &held, NULL);
}

static void note(mr_thread *thread, int number, const siginfo_t *info, ucontext_t *context)
{
    hold(thread, number, context);
    thread->signal_info[number] = *info;
    __atomic_or_fetch(&thread->signals, (uint64_t)1 << (number - 1), __ATOMIC_RELAXED);
    __atomic_or_fetch(&thread->attention, MR_ATTENTION_SIGNAL, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&thread->arrived, 1, __ATOMIC_RELEASE);
    mr_futex_wake(&thread->arrived, 1);
    uint32_t waits = 0; /* or is about to */
    __atomic_compare_exchange_n(&thread->go, &waits, 3, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* Did a timer or kill send it to the process, and not to a thread of it? */
static bool is_for_process(int number, const siginfo_t *info)
{
    bool of_timer = number == SIGALRM || number == SIGVTALRM || number == SIGPROF;
    return info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TIMER ||
           (info->si_code == SI_KERNEL && of_timer);
}

/* A replay: the kernel may choose another thread for a signal than it did in the recording. */
static bool pass_on(const mr_thread *thread, int number, const siginfo_t *info)
{
    const mr_thread *other = mr_steers() && thread != NULL && is_for_process(number, info)
                                 ? mr_steer_handles(thread)
                                 : NULL;
    return other != NULL && mr_input_signal_give(other, number, *info);
}

/* What the kernel calls for every handler of the program. */
static void arrived(int number, siginfo_t *info, void *context)
{
    mr_thread *thread = mr_self;
    if (!mr_input_signal_counts(number, info) || pass_on(thread, number, info)) {
        return;
    }
    if (thread == NULL || !mr_rt.active) {
        call_handler(&handlers[number], number, info, context);
    } else if (thread->state == MR_RUNNING && is_own(thread, number, info)) {
        mr_writer_fault();
        run_handler(thread, number, info, context);
    } else if (thread->state == MR_OUTSIDE && thread->busy == 0 &&
               !(thread->attention & MR_ATTENTION_LOST) &&
               mr_steer_handler(thread) != MR_HANDLER_LATER) {
        int saved_errno = errno;
        __atomic_add_fetch(&thread->arrived, 1, __ATOMIC_RELEASE);
        mr_futex_wake(&thread->arrived, 1);
        mr_outside_end(thread);
        mr_input_signal_log(thread, number, info);
        run_handler(thread, number, info, context);
        mr_outside_begin(thread);
        errno = saved_errno;
    } else {
        note(thread, number, info, context);
    }
}

bool mr_signals_ready(const mr_thread *thread)
{
    return thread->signals != 0 && mr_steer_handler(thread) != MR_HANDLER_LATER;
}

bool mr_signals_restart(void)
{
    return last_restarts;
}

static void handle_noted(mr_thread *thread)
{
    __atomic_and_fetch(&thread->attention, ~(uint32_t)MR_ATTENTION_SIGNAL, __ATOMIC_SEQ_CST);
    for (uint64_t left = __atomic_exchange_n(&thread->signals, 0, __ATOMIC_SEQ_CST); left != 0;
         left &= left - 1) {
        int number = __builtin_ctzll(left) + 1;
        siginfo_t info = thread->signal_info[number];
        sigset_t mask = handlers[number].sa_mask;
        sigset_t old;
        sigaddset(&mask, number);
        MR_REAL(pthread_sigmask)(SIG_BLOCK, &mask, &old);
        mr_input_signal_log(thread, number, &info);
        run_handler(thread, number, &info, NULL);
        let_through(thread, number, &old);
        MR_REAL(pthread_sigmask)(SIG_SETMASK, &old, NULL);
    }
}

void mr_signals_handle(mr_thread *thread)
{
    mr_rt.signal_until = 0;
    if (!mr_signals_ready(thread)) {
        return; /* a replay: its place comes later, and the bit of `attention` stays */
    }
    const mr_about about = thread->about;
    const uintptr_t called = thread->called;
    do {
        handle_noted(thread);
    } while (mr_signals_ready(thread)); /* those that the kernel kept */
    thread->about = about;
    thread->called = called;
}

/* The signal of a timer is on its way, and the handler is to run here. */
static void await_timer(mr_thread *thread)
{
    const int64_t LOOK_NS = 10000000, PATIENCE_NS = 1000000000;
    const int64_t until = mr_clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
    while (thread->signals == 0 && mr_rt.signal_until != 0) {
        uint32_t seen = __atomic_load_n(&thread->arrived, __ATOMIC_ACQUIRE);
        if (thread->signals == 0) {
            mr_futex_wait(&thread->arrived, seen, LOOK_NS);
        }
        if (mr_clock_ns(CLOCK_MONOTONIC) >= until) {
            mr_rt.signal_until = 0;
        }
    }
}

bool mr_signals_replay(mr_thread *thread)
{
    if (mr_steer_handler(thread) != MR_HANDLER_NOW) {
        return false;
    }
    if (thread->signals == 0) {
        mr_input_signal_send(thread); /* which notes it, unless the thread blocks it now */
    }
    await_timer(thread);
    if (thread->signals == 0) {
        return false;
    }
    mr_writer_settle();
    mr_signals_handle(thread);
    return true;
}

bool mr_signal_has_handler(int number)
{
    return number > 0 && number < MR_SIGNALS_MAX && is_handler(&handlers[number]);
}

void mr_signal_caused(int number, uintptr_t code)
{
    if (number > 0 && number < MR_SIGNALS_MAX) {
        mr_write_object(MR_LOG_BEFORE, MR_LOG_ROLE_SIGNAL, (void *)(intptr_t)number, code, 0, 0);
    }
}

static void log_all(const sigset_t *set, unsigned count, uintptr_t code)
{
    for (int number = 1; number < MR_SIGNALS_MAX; number++) {
        if (set == NULL || sigismember(set, number) == 1) {
            mr_write_object(MR_LOG_AFTER, MR_LOG_ROLE_SIGNAL, (void *)(intptr_t)number, code, count,
                            0);
        }
    }
}

void mr_signal_log_taken(const sigset_t *set, uintptr_t code)
{
    log_all(set, 0, code);
}

void mr_signal_log_pending(const sigset_t *set, uintptr_t code)
{
    log_all(set, MR_LOG_NOT_YET, code);
}

/* The program never sees our handler: it may install again what it is told. */
static void show_own(struct sigaction *old, const struct sigaction *own)
{
    if (old != NULL && (old->sa_flags & SA_SIGINFO) && old->sa_sigaction == arrived) {
        *old = *own;
    }
}

/* Installs our handler in place of the program's. */
static int set_action(int number, const struct sigaction *action, struct sigaction *old,
                      uintptr_t code)
{
    struct sigaction ours;
    struct sigaction before = handlers[number];
    if (action != NULL) {
        ours = *action;
        if (is_handler(action)) {
            ours.sa_sigaction = arrived;
            ours.sa_flags |= SA_SIGINFO;
            if (action->sa_handler != before.sa_handler) {
                mr_signal_caused(number, code);
            }
            handlers[number] = *action; /* before it can arrive */
        }
    }
    int status = MR_REAL(sigaction)(number, action != NULL ? &ours : NULL, old);
    if (status != 0) {
        handlers[number] = before;
    } else {
        show_own(old, &before);
    }
    return status;
}

int mr_signal_action(int number, const struct sigaction *action, struct sigaction *old,
                     uintptr_t code)
{
    if (number <= 0 || number >= MR_SIGNALS_MAX) {
        return MR_REAL(sigaction)(number, action, old);
    }
    mr_thread *thread = mr_enter();
    /* A child that is not recorded has the handlers of its parent, too. */
    if (thread == NULL) {
        int status = MR_REAL(sigaction)(number, action, old);
        if (status == 0) {
            show_own(old, &handlers[number]);
        }
        return status;
    }
    int status = set_action(number, action, old, code);
    mr_leave(thread);
    return status;
}

MR_EXPORT int sigaction(int number, const struct sigaction *restrict action,
                        struct sigaction *restrict old)
{
    int status = mr_signal_action(number, action, old, MR_CALLER);
    if (status == 0 && old != NULL) {
        mr_memory_end(mr_memory_begin(MR_CALLER), old, sizeof *old, MR_CALLER);
    }
    return status;
}

static sighandler_t set_simple(int number, sighandler_t handler, int flags, uintptr_t code)
{
    struct sigaction action = {.sa_flags = flags};
    struct sigaction old;
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    return mr_signal_action(number, &action, &old, code) == 0 ? old.sa_handler : SIG_ERR;
}

/* Bit s: the program has asked by siginterrupt that signal s ends calls, also with handlers to come. */
static uint64_t interrupts;

void mr_signal_interrupts(int number, bool ends)
{
    uint64_t bit = UINT64_C(1) << (unsigned)number % 64;
    if (ends) {
        __atomic_or_fetch(&interrupts, bit, __ATOMIC_RELAXED);
    } else {
        __atomic_and_fetch(&interrupts, ~bit, __ATOMIC_RELAXED);
    }
}

static int flags_of_signal(int number)
{
    uint64_t bit = UINT64_C(1) << (unsigned)number % 64;
    return (__atomic_load_n(&interrupts, __ATOMIC_RELAXED) & bit) != 0 ? 0 : SA_RESTART;
}

MR_EXPORT sighandler_t signal(int number, sighandler_t handler)
{
    return set_simple(number, handler, flags_of_signal(number), MR_CALLER);
}

MR_EXPORT sighandler_t bsd_signal(int number, sighandler_t handler);
sighandler_t bsd_signal(int number, sighandler_t handler)
{
    return set_simple(number, handler, flags_of_signal(number), MR_CALLER);
}

MR_EXPORT sighandler_t sysv_signal(int number, sighandler_t handler)
{
    return set_simple(number, handler, (int)(SA_RESETHAND | SA_NODEFER), MR_CALLER);
}

/* What `signal` is called in programs that ask for strict C or for X/Open alone. */
MR_EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler)
{
    return set_simple(number, handler, (int)(SA_RESETHAND | SA_NODEFER), MR_CALLER);
}

MR_EXPORT sighandler_t ssignal(int number, sighandler_t handler)
{
    return set_simple(number, handler, flags_of_signal(number), MR_CALLER);
}

/* What came before is handled before it is blocked, and what is let through before the program goes
 * on. `tells`: the program is told the old mask, and the call writes it. */
static int change_mask(int (*real)(int, const sigset_t *, sigset_t *), int how, const sigset_t *set,
                       sigset_t *old, bool tells, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    bool blocks = how == SIG_BLOCK; /* those that come before that are held, too */
    uint64_t held = thread != NULL && !blocks ? forget_held(thread, how, set) : 0;
    int status = real(how, set, old);
    if (thread != NULL) {
        held = blocks ? forget_held(thread, how, set) : held;
        hide_held(status == 0 && old != NULL ? held : 0, old);
        mr_attend(thread);
        if (status == 0 && old != NULL && tells) {
            mr_memory_written(old, sizeof *old, code);
        }
        mr_leave(thread);
    }
    return status;
}

int mr_signal_mask(int how, const sigset_t *set, sigset_t *old)
{
    return change_mask(MR_REAL(sigprocmask), how, set, old, false, 0);
}

#define CHANGES_MASK(name)                                                                         \
    MR_EXPORT int name(int how, const sigset_t *restrict set, sigset_t *restrict old)              \
    {                                                                                              \
        return change_mask(MR_REAL(name), how, set, old, true, MR_CALLER);                         \
    }
CHANGES_MASK(pthread_sigmask)
CHANGES_MASK(sigprocmask)
#undef CHANGES_MASK
