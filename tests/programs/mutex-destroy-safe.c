/* No race: who gives back the last reference destroys the mutex that counts them, right after it
 * has unlocked it. */
#include <pthread.h>
#include <stdlib.h>

enum { USERS = 3 };

typedef struct shared {
    pthread_mutex_t lock;
    int references;
} shared;

static void *use(void *argument)
{
    shared *object = argument;
    pthread_mutex_lock(&object->lock);
    int left = --object->references;
    pthread_mutex_unlock(&object->lock);
    if (left == 0) {
        pthread_mutex_destroy(&object->lock);
        free(object);
    }
    return NULL;
}

int main(void)
{
    pthread_t users[USERS];
    for (int round = 0; round < 2; round++) {
        shared *object = malloc(sizeof *object);
        if (object == NULL) {
            return 1;
        }
        pthread_mutex_init(&object->lock, NULL);
        object->references = USERS;
        for (int i = 0; i < USERS; i++) {
            pthread_create(&users[i], NULL, use, object);
        }
        for (int i = 0; i < USERS; i++) {
            pthread_join(users[i], NULL);
        }
    }
    return 0;
}
