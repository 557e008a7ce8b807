/* No race: two threads hand over items by a GCond, with and without a limit; then one waits for what never comes. */
#include <glib.h>

static GMutex mutex;
static GCond ready, never;
static int item = -1, taken, late;

static gpointer produce(gpointer unused)
{
    for (int i = 0; i < 4; i++) {
        g_mutex_lock(&mutex);
        while (item >= 0) {
            g_cond_wait(&ready, &mutex);
        }
        item = i;
        g_cond_broadcast(&ready);
        g_mutex_unlock(&mutex);
    }
    return unused;
}

static gpointer consume(gpointer unused)
{
    for (int i = 0; i < 4; i++) {
        g_mutex_lock(&mutex);
        while (item < 0) {
            g_cond_wait_until(&ready, &mutex, g_get_monotonic_time() + G_TIME_SPAN_SECOND);
        }
        taken += item;
        item = -1;
        g_cond_signal(&ready);
        g_mutex_unlock(&mutex);
    }
    g_mutex_lock(&mutex);
    gint64 end = g_get_monotonic_time() + 5 * G_TIME_SPAN_SECOND;
    while (g_cond_wait_until(&never, &mutex, end)) {
    }
    late = 1;
    g_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    GThread *a = g_thread_new("produce", produce, NULL),
            *b = g_thread_new("consume", consume, NULL);
    g_thread_join(a);
    g_thread_join(b);
    g_mutex_clear(&mutex);
    g_cond_clear(&ready);
    return taken != 6 || late != 1;
}
