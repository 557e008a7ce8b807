#include "input_signals.h"

#include "inputs.h"
#include "scheduler.h"
#include "signals.h"
#include "sys.h"

#include <signal.h>
#include <sys/syscall.h>

/* In si_errno, which is 0 otherwise: mr_input_signal_give sent it. The last byte is that of the si_code: the
 * kernel takes no signal of a thread for another one that looks as sent by the kernel or by kill. */
enum { OURS = 0x6d617800, CODE = 0xff };

static long own_process(void)
{
    return mr_sys(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

/* Another process, or somebody at the terminal, has sent it. */
static bool is_from_outside(int number, const siginfo_t *info)
{
    const uint64_t own = (uint64_t)1 << SIGALRM | (uint64_t)1 << SIGVTALRM |
                         (uint64_t)1 << SIGPROF | (uint64_t)1 << SIGSEGV | (uint64_t)1 << SIGBUS |
                         (uint64_t)1 << SIGFPE | (uint64_t)1 << SIGILL | (uint64_t)1 << SIGTRAP |
                         (uint64_t)1 << SIGSYS | (uint64_t)1 << SIGPIPE | (uint64_t)1 << SIGCHLD;
    if (info->si_code == SI_USER || info->si_code == SI_QUEUE) {
        return info->si_pid != (pid_t)own_process();
    }
    return info->si_code == SI_KERNEL && number < 64 && (own >> number & 1) == 0;
}

void mr_input_signal_log(const mr_thread *thread, int number, const siginfo_t *info)
{
    if (mr_inputs_are_logged() && is_from_outside(number, info)) {
        const mr_input_part part = {info, sizeof *info};
        mr_input_log(thread, MR_INPUT_SIGNAL, (uint64_t)number, false, mr_virtual_now(), &part, 1);
    }
}

bool mr_input_signal_give(const mr_thread *thread, int number, siginfo_t info)
{
    info.si_errno = OURS | (info.si_code & CODE);
    info.si_code = SI_QUEUE;
    return mr_sys(SYS_rt_tgsigqueueinfo, own_process(), thread->kernel_id, number, (long)&info, 0,
                  0) == 0;
}

bool mr_input_signal_send(const mr_thread *thread)
{
    const mr_input_head *head = mr_input_next_signal(thread);
    siginfo_t info;
    if (head == NULL || head->bytes != sizeof info) {
        return false;
    }
    mr_input_pass(thread);
    __builtin_memcpy(&info, head + 1, sizeof info);
    if (mr_signal_has_handler((int)head->argument)) { /* it had one then */
        mr_input_signal_give(thread, (int)head->argument, info);
    }
    return true;
}

int64_t mr_input_signals_next(void)
{
    int64_t next = MR_NEVER;
    for (const mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        const mr_input_head *head = t->state != MR_DONE ? mr_input_next_signal(t) : NULL;
        next = head != NULL && head->result < next ? head->result : next;
    }
    return next;
}

bool mr_input_signals_due(int64_t now)
{
    bool any = false;
    for (const mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        const mr_input_head *head = t->state != MR_DONE ? mr_input_next_signal(t) : NULL;
        any = (head != NULL && head->result <= now && mr_input_signal_send(t)) || any;
    }
    return any;
}

bool mr_input_signal_counts(int number, siginfo_t *info)
{
    if ((info->si_errno & ~CODE) == OURS) {
        int code = info->si_errno & CODE; /* those of signals that a process sends are negative */
        info->si_code = code > INT8_MAX && code != SI_KERNEL ? code - (CODE + 1) : code;
        info->si_errno = 0;
        return true;
    }
    return !mr_inputs_have_signal(number) || !is_from_outside(number, info);
}
