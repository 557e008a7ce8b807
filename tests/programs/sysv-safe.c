/* No race: semaphores of System V as a lock, as a signal and as a wait for zero, and messages. Who learns that no unit is there, or no
 * message, or no room, writes in a section of its lock; the other thread changes
 * that in its own section, and writes after it. Each way has a lock, so that none hides another one. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <unistd.h>

enum { LOCK, READY, BUSY, ASKED, AMONG_ALL, TRIED, SEMAPHORES };
enum { TELLS_VALUE, TELLS_ALL, TELLS_TRY, TELLS_EMPTY, TELLS_FULL, WAYS };
typedef struct message {
    long type;
    char text;
} message;

static pthread_mutex_t locks[WAYS];
static int set, queue, other, full;
static int in_lock, by_ready, by_zero, by_message, of_value, of_all, of_try, of_empty, of_full;

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
    message got = {1, 'a'};
    unsigned short units[SEMAPHORES];
    pthread_mutex_lock(&locks[TELLS_VALUE]);
    if (semctl(set, ASKED, GETVAL) == 0)
        of_value = 1;
    pthread_mutex_unlock(&locks[TELLS_VALUE]);
    pthread_mutex_lock(&locks[TELLS_ALL]);
    semctl(set, 0, GETALL, units);
    if (units[AMONG_ALL] == 0)
        of_all = 1;
    pthread_mutex_unlock(&locks[TELLS_ALL]);
    pthread_mutex_lock(&locks[TELLS_TRY]);
    if (change(TRIED, -1, IPC_NOWAIT) != 0)
        of_try = 1;
    pthread_mutex_unlock(&locks[TELLS_TRY]);
    pthread_mutex_lock(&locks[TELLS_EMPTY]);
    if (msgrcv(other, &got, 1, 0, IPC_NOWAIT) < 0)
        of_empty = 1;
    pthread_mutex_unlock(&locks[TELLS_EMPTY]);
    pthread_mutex_lock(&locks[TELLS_FULL]);
    if (msgsnd(full, &got, 1, IPC_NOWAIT) < 0)
        of_full = 1;
    pthread_mutex_unlock(&locks[TELLS_FULL]);
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
    message sent = {1, 'a'}, got;
    usleep(1000);
    pthread_mutex_lock(&locks[TELLS_VALUE]);
    change(ASKED, 1, 0);
    pthread_mutex_unlock(&locks[TELLS_VALUE]);
    of_value = 2;
    pthread_mutex_lock(&locks[TELLS_ALL]);
    change(AMONG_ALL, 1, 0);
    pthread_mutex_unlock(&locks[TELLS_ALL]);
    of_all = 2;
    pthread_mutex_lock(&locks[TELLS_TRY]);
    change(TRIED, 1, 0);
    pthread_mutex_unlock(&locks[TELLS_TRY]);
    of_try = 2;
    pthread_mutex_lock(&locks[TELLS_EMPTY]);
    msgsnd(other, &sent, 1, 0);
    pthread_mutex_unlock(&locks[TELLS_EMPTY]);
    of_empty = 2;
    pthread_mutex_lock(&locks[TELLS_FULL]);
    msgrcv(full, &got, 1, 0, 0);
    pthread_mutex_unlock(&locks[TELLS_FULL]);
    of_full = 2;
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

/* A queue with room for one message, which is there. */
static void fill(void)
{
    struct msqid_ds about;
    full = msgget(IPC_PRIVATE, 0600);
    msgctl(full, IPC_STAT, &about);
    about.msg_qbytes = 1;
    msgctl(full, IPC_SET, &about);
    msgsnd(full, &(message){1, 'a'}, 1, 0);
}

int main(void)
{
    pthread_t one, two;
    set = semget(IPC_PRIVATE, SEMAPHORES, 0600);
    queue = msgget(IPC_PRIVATE, 0600);
    other = msgget(IPC_PRIVATE, 0600);
    semctl(set, 0, SETALL, (unsigned short[SEMAPHORES]){0, 0, 1, 0, 0, 0});
    fill();
    for (int i = 0; i < WAYS; i++)
        pthread_mutex_init(&locks[i], NULL);
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&two, NULL, second, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    semctl(set, 0, IPC_RMID);
    msgctl(queue, IPC_RMID, NULL);
    msgctl(other, IPC_RMID, NULL);
    msgctl(full, IPC_RMID, NULL);
    return 0;
}
