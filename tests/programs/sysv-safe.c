/* No race: semaphores of System V as a lock, as a signal and as a wait for zero, and messages. Who learns that no unit is there, or no
 * message, writes in a section of `lock`; the other thread changes that in its own section, and writes after it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <unistd.h>

enum { LOCK, READY, BUSY, ASKED, SEMAPHORES };
typedef struct message {
    long type;
    char text;
} message;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int set, queue, other;
static int in_lock, by_ready, by_zero, by_message, of_units, of_try, of_queue;

static int change(unsigned short number, short by, short flags)
{
    struct sembuf one = {number, by, flags};
    return semop(set, &one, 1);
}

/* The usual lock: it waits for zero, and adds one. */
static void take(void)
{
    struct sembuf both[] = {{LOCK, 0, 0}, {LOCK, 1, 0}};
    semop(set, both, 2);
}

static void *first(void *unused)
{
    message got;
    pthread_mutex_lock(&lock);
    if (semctl(set, ASKED, GETVAL) == 0)
        of_units = 1;
    if (change(ASKED, -1, IPC_NOWAIT) != 0)
        of_try = 1;
    if (msgrcv(other, &got, 1, 0, IPC_NOWAIT) < 0)
        of_queue = 1;
    pthread_mutex_unlock(&lock);
    take();
    in_lock++;
    change(LOCK, -1, 0);
    change(READY, -1, 0);
    by_ready = 2;
    change(BUSY, 0, 0);
    by_zero = 2;
    msgrcv(queue, &got, 1, 0, 0);
    by_message = 2;
    return unused;
}

static void *second(void *unused)
{
    message sent = {1, 'a'};
    usleep(1000);
    pthread_mutex_lock(&lock);
    change(ASKED, 1, 0);
    msgsnd(other, &sent, 1, 0);
    pthread_mutex_unlock(&lock);
    of_units = of_try = of_queue = 2;
    take();
    in_lock++;
    change(LOCK, -1, 0);
    by_ready = 1;
    change(READY, 1, 0);
    by_zero = 1;
    change(BUSY, -1, 0);
    by_message = 1;
    msgsnd(queue, &sent, 1, 0);
    return unused;
}

int main(void)
{
    pthread_t one, two;
    set = semget(IPC_PRIVATE, SEMAPHORES, 0600);
    queue = msgget(IPC_PRIVATE, 0600);
    other = msgget(IPC_PRIVATE, 0600);
    semctl(set, 0, SETALL, (unsigned short[SEMAPHORES]){0, 0, 1, 0});
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&two, NULL, second, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    semctl(set, 0, IPC_RMID);
    msgctl(queue, IPC_RMID, NULL);
    msgctl(other, IPC_RMID, NULL);
    return 0;
}
