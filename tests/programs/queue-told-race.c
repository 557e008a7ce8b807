/* The state of the queue is asked for in a section of `lock`, and the variable is written after it. Predicted from every order. */
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int queue, shared;

static void *look(void *unused)
{
    struct msqid_ds state;
    pthread_mutex_lock(&lock);
    msgctl(queue, IPC_STAT, &state);
    pthread_mutex_unlock(&lock);
    shared = 1;
    return unused;
}

static void *act(void *unused)
{
    struct {
        long type;
        char text[1];
    } message = {1, "1"};
    usleep(1000);
    shared = 2;
    pthread_mutex_lock(&lock);
    msgsnd(queue, &message, 1, 0);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    queue = msgget(IPC_PRIVATE, 0600);
    pthread_create(&first, NULL, look, NULL);
    pthread_create(&second, NULL, act, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    msgctl(queue, IPC_RMID, NULL);
    return 0;
}
