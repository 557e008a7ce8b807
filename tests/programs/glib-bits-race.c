/* Race on x: the threads have different bits of the word locked. Predicted from every order. */
#include <glib.h>

static gint bits;
static GMutex mutex;
static int x;

static gpointer one(gpointer unused)
{
    g_mutex_lock(&mutex);
    g_bit_lock(&bits, 1);
    x++;
    g_bit_unlock(&bits, 1);
    g_mutex_unlock(&mutex);
    return unused;
}

static gpointer two(gpointer unused)
{
    g_mutex_lock(&mutex);
    g_mutex_unlock(&mutex);
    g_bit_lock(&bits, 2);
    x++;
    g_bit_unlock(&bits, 2);
    return unused;
}

int main(void)
{
    GThread *a = g_thread_new("a", one, NULL), *b = g_thread_new("b", two, NULL);
    g_thread_join(a);
    g_thread_join(b);
    return 0;
}
