/* Race on x: both write with the lock taken for reading. Predicted from every order. */
#include <glib.h>

static GRWLock lock;
static GRecMutex other;
static int x;

static gpointer one(gpointer unused)
{
    g_rw_lock_reader_lock(&lock);
    x++;
    g_rw_lock_reader_unlock(&lock);
    return unused;
}

static gpointer two(gpointer unused)
{
    g_rec_mutex_lock(&other);
    while (!g_rw_lock_reader_trylock(&lock)) {
    }
    x++;
    g_rw_lock_reader_unlock(&lock);
    g_rec_mutex_unlock(&other);
    return unused;
}

int main(void)
{
    GThread *a = g_thread_new("a", one, NULL), *b = g_thread_new("b", two, NULL);
    g_thread_join(a);
    g_thread_join(b);
    return 0;
}
