/* No race: who is told that a queue is empty, that its message is too long, or that a pipe has room for a part of what it writes, writes
 * in a section of `lock`; the other thread changes that in its own section, and writes after it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <unistd.h>

enum { ROOM = 1 << 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int empty, full, ends[2], by_state, by_length, by_part;
static char bytes[ROOM];

static void *look(void *unused)
{
    struct msqid_ds state;
    struct {
        long type;
        char text[1];
    } message;
    pthread_mutex_lock(&lock);
    msgctl(empty, IPC_STAT, &state);
    if (state.msg_qnum == 0)
        by_state = 1;
    if (msgrcv(full, &message, 1, 0, IPC_NOWAIT) < 0 && errno == E2BIG)
        by_length = 1;
    if (write(ends[1], bytes, ROOM) < ROOM)
        by_part = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *act(void *unused)
{
    struct {
        long type;
        char text[8];
    } message = {1, "1234567"};
    char *to = malloc(2 * ROOM);
    usleep(1000);
    pthread_mutex_lock(&lock);
    msgsnd(empty, &message, 8, 0);
    msgrcv(full, &message, 8, 0, IPC_NOWAIT);
    read(ends[0], to, 2 * ROOM);
    pthread_mutex_unlock(&lock);
    by_state = by_length = by_part = 2;
    free(to);
    return unused;
}

int main(void)
{
    struct {
        long type;
        char text[8];
    } message = {1, "1234567"};
    pthread_t first, second;
    empty = msgget(IPC_PRIVATE, 0600);
    full = msgget(IPC_PRIVATE, 0600);
    msgsnd(full, &message, 8, 0);
    pipe2(ends, O_NONBLOCK);
    fcntl(ends[1], F_SETPIPE_SZ, ROOM);
    write(ends[1], bytes, ROOM / 2);
    pthread_create(&first, NULL, look, NULL);
    pthread_create(&second, NULL, act, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    msgctl(empty, IPC_RMID, NULL);
    msgctl(full, IPC_RMID, NULL);
    return 0;
}
