#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

static const int signals[] = {SIGINT, SIGTERM};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

/* A signal handler has no other way to know. */
static mr_halt *volatile asked_to;

static void leave_to_system(void)
{
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction now;
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            signal(signals[i], SIG_DFL);
    }
}

static void handle(int number)
{
    (void)number;
    if (asked_to)
        mr_halt_ask(asked_to, MR_HALT_SIGNAL);
    leave_to_system();
}

void mr_interrupt_start(mr_halt *halt)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART}, before;
    asked_to = halt;
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
