/* No race: handlers that sigset installs, and masks that sighold, sigrelse, sigpause, sigblock and sigsetmask change, are those of sigaction
 * and sigprocmask by other names. Each handler reads what was written before its signal was sent.
 */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int data, sum;

static void handle(int number)
{
    (void)number;
    sum += data;
}

static void *send(void *unused)
{
    data = 3;
    kill(getpid(), SIGUSR1);
    return unused;
}

/* Is the signal blocked? */
static int is_blocked(void)
{
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    return sigismember(&mask, SIGUSR1);
}

/* Does the signal end calls that wait? `signal` keeps what siginterrupt has set. */
static int interrupts(void)
{
    struct sigaction action;
    signal(SIGUSR2, handle);
    sigaction(SIGUSR2, NULL, &action);
    return (action.sa_flags & SA_RESTART) == 0;
}

static int ends_calls(void)
{
    return !interrupts() && siginterrupt(SIGUSR2, 1) == 0 && interrupts() &&
           siginterrupt(SIGUSR2, 0) == 0 && !interrupts();
}

static int names_are_right(void)
{
    int bit = 1 << (SIGUSR1 - 1), right = sigset(SIGUSR1, SIG_HOLD) == SIG_DFL && is_blocked();
    right = right && sigset(SIGUSR1, handle) == SIG_HOLD && !is_blocked();
    right = right && sigset(SIGUSR1, handle) == handle && siginterrupt(SIGUSR1, 1) == 0;
    right = right && (sigblock(bit) & bit) == 0 && is_blocked();
    right = right && (sigsetmask(0) & bit) != 0 && !is_blocked();
    return right && sighold(SIGUSR1) == 0 && is_blocked();
}

int main(void)
{
    pthread_t thread;
    if (!names_are_right() || !ends_calls()) {
        return 1;
    }
    pthread_create(&thread, NULL, send, NULL);
    (sigpause)(SIGUSR1); /* handles it */
    data++;
    sigrelse(SIGUSR1);
    raise(SIGUSR1);
    pthread_join(thread, NULL);
    sigignore(SIGUSR1);
    raise(SIGUSR1);
    return sum != 3 + 4;
}
