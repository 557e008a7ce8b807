/* use-after-free: each user gives its reference back before its last use. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct shared {
    atomic_int references;
    atomic_int used;
} shared;

static void *use(void *argument)
{
    shared *self = argument;
    int left = atomic_fetch_sub(&self->references, 1) - 1;
    atomic_store(&self->used, 1);
    if (left == 0) {
        free(self);
    }
    return NULL;
}

int main(void)
{
    shared *self = calloc(1, sizeof *self);
    pthread_t other;
    atomic_init(&self->references, 2);
    pthread_create(&other, NULL, use, self);
    use(self);
    return pthread_join(other, NULL);
}
