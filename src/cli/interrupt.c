#include "interrupt.h"

#include "base/seconds.h"
#include "leftovers.h"

#include <signal.h>
#include <stddef.h>

/* A signal that comes again so soon is the same one. */
static const double ONE_SIGNAL_SECONDS = 0.5;

static const int signals[] = {SIGINT, SIGTERM};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

/* Static, because a signal handler has no arguments of its own. */
static mr_halt *_Atomic asked_to;
static atomic_bool was_asked;
static atomic_int first_number;
static _Atomic double first_seconds;

static void leave_to_system(void)
{
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction now;
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            signal(signals[i], SIG_DFL);
    }
}

/* Two signals may come at once, to two threads. */
static void handle(int number)
{
    mr_halt *halt = asked_to;
    if (halt && !atomic_exchange(&was_asked, true)) {
        first_number = number;
        first_seconds = mr_seconds();
        mr_halt_ask(halt, MR_HALT_SIGNAL);
        return;
    }
    if (halt && number == first_number && mr_seconds() - first_seconds < ONE_SIGNAL_SECONDS)
        return;
    leave_to_system();
    mr_leftovers_settle();
    raise(number); /* takes effect when this returns */
}

void mr_interrupt_start(mr_halt *halt)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART}, before;
    asked_to = halt;
    was_asked = false;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

void mr_interrupt_end(void)
{
    leave_to_system();
    asked_to = NULL;
}
