/* No race: a file and a segment of shared memory are mapped twice. Locks, condition variables and semaphores in one mapping are those in
 * the other one. The first mapping goes away before the second; then its addresses are used for something else. Mappings are moved, and
 * there are many of them, one after the other. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

enum { PAGE = 4096 };

typedef struct shared {
    pthread_mutex_t lock;
    pthread_cond_t ready;
    sem_t unit;
    int is_ready, by_lock, by_unit;
    char text[2000];
} shared;

static shared *first, *second;

static void *use_first(void *unused)
{
    pthread_mutex_lock(&first->lock);
    while (!first->is_ready)
        pthread_cond_wait(&first->ready, &first->lock);
    first->by_lock++;
    memset(first->text, 1, sizeof first->text);
    pthread_mutex_unlock(&first->lock);
    sem_wait(&first->unit);
    first->by_unit = 1;
    return unused;
}

static void *use_second(void *unused)
{
    usleep(100);
    pthread_mutex_lock(&second->lock);
    usleep(100);
    second->is_ready = 1;
    second->by_lock++;
    memcpy(second->text, "text", 4);
    pthread_cond_signal(&second->ready);
    pthread_mutex_unlock(&second->lock);
    second->by_unit = 2;
    sem_post(&second->unit);
    return unused;
}

static void run(void)
{
    pthread_t one, other;
    memset(first, 0, sizeof *first);
    pthread_mutexattr_t of_lock;
    pthread_condattr_t of_ready;
    pthread_mutexattr_init(&of_lock);
    pthread_condattr_init(&of_ready);
    pthread_mutexattr_setpshared(&of_lock, PTHREAD_PROCESS_SHARED);
    pthread_condattr_setpshared(&of_ready, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&first->lock, &of_lock);
    pthread_cond_init(&second->ready, &of_ready);
    sem_init(&first->unit, 1, 0);
    pthread_create(&one, NULL, use_first, NULL);
    pthread_create(&other, NULL, use_second, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

static void *map(int file, int pages)
{
    return mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

/* What is unmapped leaves no trace, whichever mapping goes first. */
static void map_often(void)
{
    for (int i = 0; i < 5000; i++) {
        int file = memfd_create("again", 0);
        ftruncate(file, PAGE);
        first = map(file, 1);
        second = map(file, 1);
        close(file);
        second->by_lock = 1;
        munmap(first, PAGE);
        second->by_lock++;
        munmap(second, PAGE);
    }
}

/* Half of the first mapping goes away, and each mapping to another place. */
static void move(int file)
{
    first = map(file, 2);
    munmap((char *)first + PAGE, PAGE);
    second = map(file, 1);
    run();
    second = mremap(second, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
    run();
    first = mremap(first, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
    run();
    munmap(first, 2 * PAGE);
    munmap(second, 2 * PAGE);
}

int main(void)
{
    map_often();
    int file = memfd_create("shared", 0), segment = shmget(IPC_PRIVATE, PAGE, 0600);
    ftruncate(file, 2 * PAGE);
    first = map(file, 1);
    second = map(file, 2);
    run();
    munmap(first, PAGE);
    first = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    first->by_lock = 5;
    if (second->by_lock != 2)
        return 1;
    munmap(first, PAGE);
    munmap(second, 2 * PAGE);
    move(file);
    first = shmat(segment, NULL, 0);
    second = shmat(segment, NULL, 0);
    run();
    shmctl(segment, IPC_RMID, NULL);
    shmdt(first);
    int seen = second->by_lock;
    shmdt(second);
    return seen != 2;
}
