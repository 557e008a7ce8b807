/* Race on x: who was woken has the mutex no longer when it reads. Predicted from every order. */
#include <glib.h>

static GMutex mutex;
static GCond ready;
static int is_ready, x, seen;

static gpointer wait_for_it(gpointer unused)
{
    g_mutex_lock(&mutex);
    while (!is_ready) {
        g_cond_wait(&ready, &mutex);
    }
    g_mutex_unlock(&mutex);
    seen = x;
    return unused;
}

int main(void)
{
    GThread *thread = g_thread_new("wait", wait_for_it, NULL);
    g_mutex_lock(&mutex);
    is_ready = 1;
    g_cond_signal(&ready);
    g_mutex_unlock(&mutex);
    x = 1;
    g_thread_join(thread);
    return 0;
}
