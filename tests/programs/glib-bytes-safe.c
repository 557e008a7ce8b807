/* No race: who lets go of the GBytes last frees what both have read and written. */
#include <glib.h>

typedef struct content {
    int first, second;
} content;

static content *shared;
static GBytes *bytes;

static void end(gpointer data)
{
    content *all = data;
    all->first = all->second = 0;
    g_free(all);
}

static gpointer work(gpointer unused)
{
    shared->second = 2;
    g_bytes_unref(bytes);
    return unused;
}

int main(void)
{
    shared = g_new0(content, 1);
    bytes = g_bytes_new_with_free_func(shared, sizeof *shared, end, shared);
    g_bytes_ref(bytes);
    GThread *thread = g_thread_new("work", work, NULL);
    shared->first = 1;
    g_bytes_unref(bytes);
    g_thread_join(thread);
    return 0;
}
