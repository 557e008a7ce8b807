/* The process ends while another thread is before its end, or has ended. What that thread does before is
 * done with data of its own, which is not told apart.
 * behaviours: 2 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int x;
static void *store(void *argument)
{
    atomic_store(&x, 1);
    return argument;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, store, NULL);
    exit(0);
}
