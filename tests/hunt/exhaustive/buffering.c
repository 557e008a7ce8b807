/* Store buffering with sequentially consistent atomics: the reads see (0, 1), (1, 0) or (1, 1).
 * behaviours: 3 */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y;
static int seen_x, seen_y;
static void *first(void *argument)
{
    atomic_store(&x, 1);
    seen_y = atomic_load(&y);
    return argument;
}
static void *second(void *argument)
{
    atomic_store(&y, 1);
    seen_x = atomic_load(&x);
    return argument;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return seen_x == 0 && seen_y == 0;
}
