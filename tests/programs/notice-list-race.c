/* Race on x: the function that the end of a look-up of names calls in a thread of its own (SIGEV_THREAD) changes it after it has
 * handed over. Predicted from every order. */
#define _GNU_SOURCE
#include <netdb.h>
#include <semaphore.h>
#include <signal.h>

static sem_t done, ended;
static int x;

static void end(union sigval value)
{
    sem_post(&done);
    x = value.sival_int;
    sem_post(&ended);
}

int main(void)
{
    static const struct addrinfo number = {.ai_flags = AI_NUMERICHOST};
    static struct gaicb request = {.ar_name = "127.0.0.1", .ar_request = &number};
    struct gaicb *list[] = {&request};
    struct sigevent all = {
        .sigev_notify = SIGEV_THREAD, .sigev_notify_function = end, .sigev_value.sival_int = 7};
    sem_init(&done, 0, 0);
    sem_init(&ended, 0, 0);
    if (getaddrinfo_a(GAI_NOWAIT, list, 1, &all) != 0) {
        return 1;
    }
    sem_wait(&done);
    x++;
    sem_wait(&ended);
    return 0;
}
