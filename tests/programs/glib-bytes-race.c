/* Race on first: it is written after the thread has let go of the GBytes. */
#include <glib.h>

typedef struct content {
    int first, second;
} content;

static content both;
static GBytes *bytes;

static void end(gpointer data)
{
    content *all = data;
    all->second = all->first;
}

static gpointer work(gpointer unused)
{
    g_bytes_unref(bytes);
    both.first = 1;
    return unused;
}

int main(void)
{
    bytes = g_bytes_new_with_free_func(&both, sizeof both, end, &both);
    g_bytes_ref(bytes);
    GThread *thread = g_thread_new("work", work, NULL);
    g_bytes_unref(bytes);
    g_thread_join(thread);
    return 0;
}
