/* A race: a semaphore of System V that should be a lock has two units. Predicted from every order. */
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/sem.h>

static int set, in_lock;

static void change(short by)
{
    struct sembuf one = {0, by, 0};
    semop(set, &one, 1);
}

static void *add(void *unused)
{
    change(-1);
    in_lock++;
    change(1);
    return unused;
}

int main(void)
{
    pthread_t one, two;
    set = semget(IPC_PRIVATE, 1, 0600);
    semctl(set, 0, SETVAL, 2);
    pthread_create(&one, NULL, add, NULL);
    pthread_create(&two, NULL, add, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    semctl(set, 0, IPC_RMID);
    return 0;
}
