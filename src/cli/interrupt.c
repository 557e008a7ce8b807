#include "interrupt.h"

#include "base/seconds.h"
#include "leftovers.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* A signal that comes again so soon after the first was handled is the same one. A run that was
 * asked to stop has mostly ended by then, so nobody waits for long who meant it as the second. */
static const double ONE_SIGNAL_SECONDS = 2;

static const int signals[] = {SIGINT, SIGTERM};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

/* Static, because a signal handler has no arguments of its own. */
static mr_halt *_Atomic asked_to;
static atomic_int first_number;      /* 0: none so far */
static _Atomic double first_seconds; /* 0: the handler of the first is not so far */

static void leave_to_system(void)
{
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction now;
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            signal(signals[i], SIG_DFL);
    }
}

static bool is_first_again(int number)
{
    double first = first_seconds;
    return number == first_number && (first == 0 || mr_seconds() - first < ONE_SIGNAL_SECONDS);
}

/* Two signals may come at once, to two threads. */
static void handle(int number)
{
    mr_halt *halt = asked_to;
    int none = 0;
    if (halt && atomic_compare_exchange_strong(&first_number, &none, number)) {
        first_seconds = mr_seconds();
        mr_halt_ask(halt, MR_HALT_SIGNAL);
        return;
    }
    if (halt && is_first_again(number))
        return;
    leave_to_system();
    mr_leftovers_settle();
    raise(number); /* takes effect when this returns */
}

void mr_interrupt_start(mr_halt *halt)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART}, before;
    asked_to = halt;
    first_number = 0;
    first_seconds = 0;
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
