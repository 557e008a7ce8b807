/* Race on late: it is written after g_once_init_leave. */
#include <glib.h>

static gsize word;
static int early, late, sum;

static gpointer work(gpointer unused)
{
    if (g_once_init_enter(&word)) {
        early = 1;
        g_once_init_leave(&word, 1);
        late = 1;
    } else {
        sum = early + late;
    }
    return unused;
}

int main(void)
{
    GThread *a = g_thread_new("a", work, NULL), *b = g_thread_new("b", work, NULL);
    g_thread_join(a);
    g_thread_join(b);
    return 0;
}
