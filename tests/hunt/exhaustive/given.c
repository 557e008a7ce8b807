/* Memory is given back and taken again at the same place before another thread uses it: no use of freed memory.
 * behaviours: 1 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <pthread.h>
#include <sys/mman.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *number;
static int *take(void)
{
    return mmap((void *)0x200000000000, 4096, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}
static void *use(void *argument)
{
    pthread_mutex_lock(&lock);
    *number += 1;
    pthread_mutex_unlock(&lock);
    return argument;
}
static void *renew(void *argument)
{
    pthread_mutex_lock(&lock);
    munmap(number, 4096);
    number = take();
    pthread_mutex_unlock(&lock);
    return argument;
}
int main(void)
{
    pthread_t first, second;
    number = take();
    pthread_create(&first, NULL, use, NULL);
    pthread_create(&second, NULL, renew, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
