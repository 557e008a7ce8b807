/* No race: two threads use two mappings that lie side by side, and write over the border between them, under a lock. The lengths differ,
 * so that each piece of memory begins and ends elsewhere than in the mapping that it is in. */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, ROUNDS = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *memory;
static long sum;

static void *work(void *unused)
{
    for (int i = 1; i <= ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        memory[PAGE + 32]++;
        memset(memory + PAGE - 40 - i, i, 80 + 3 * (size_t)i);
        memory[PAGE + 33 + i]++;
        sum += memory[PAGE] + memory[PAGE - 1] + memory[PAGE + 7];
        memcpy(memory + PAGE - 200, memory + PAGE - 30, 100);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t first, second;
    memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mmap(memory + PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
             -1, 0) == MAP_FAILED)
        return 2;
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return sum == 0;
}
