/* No race: what is pushed to a GThreadPool belongs to the thread that works on it, until all have ended. */
#include <glib.h>

typedef struct job {
    int value, done;
} job;

static void run(gpointer data, gpointer factor)
{
    job *own = data;
    own->done = own->value * *(int *)factor;
}

int main(void)
{
    job all[5];
    int sum = 0, *factor = g_new(int, 1);
    GThreadPool *pool = g_thread_pool_new(run, factor, 2, FALSE, NULL);
    *factor = 3;
    for (int i = 0; i < 5; i++) {
        all[i].value = i;
        g_thread_pool_push(pool, &all[i], NULL);
    }
    g_thread_pool_free(pool, FALSE, TRUE);
    for (int i = 0; i < 5; i++) {
        sum += all[i].done;
    }
    g_free(factor);
    return sum != 30;
}
