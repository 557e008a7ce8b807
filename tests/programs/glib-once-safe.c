/* No race: the first thread that comes makes it, by a GOnce and by g_once_init_enter; the macros look at the words themselves. */
#include <glib.h>

static GOnce once = G_ONCE_INIT;
static gsize word;
static int *made, table[4];

static gpointer make(gpointer unused)
{
    (void)unused;
    int *block = g_new0(int, 2);
    block[1] = 7;
    return block;
}

static gpointer work(gpointer unused)
{
    int *block = g_once(&once, make, NULL);
    int seen = block[1];
    if (g_once_init_enter(&word)) {
        for (int i = 0; i < 4; i++) {
            table[i] = i + seen;
        }
        made = block;
        g_once_init_leave(&word, 1);
    }
    return GINT_TO_POINTER(table[3] + made[1] + GPOINTER_TO_INT(unused));
}

int main(void)
{
    GThread *threads[3];
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        threads[i] = g_thread_new("work", work, NULL);
    }
    for (int i = 0; i < 3; i++) {
        sum += GPOINTER_TO_INT(g_thread_join(threads[i]));
    }
    return sum != 3 * 17;
}
