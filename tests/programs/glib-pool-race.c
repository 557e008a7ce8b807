/* Race on total: two threads of a pool add to it. */
#include <glib.h>

static int total;

static void run(gpointer data, gpointer unused)
{
    (void)unused;
    total += GPOINTER_TO_INT(data);
}

int main(void)
{
    GThreadPool *pool = g_thread_pool_new(run, NULL, 2, FALSE, NULL);
    for (int i = 1; i < 5; i++) {
        g_thread_pool_push(pool, GINT_TO_POINTER(i), NULL);
    }
    g_thread_pool_free(pool, FALSE, TRUE);
    return 0;
}
