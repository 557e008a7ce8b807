/* No race: counters under each kind of lock of GLib; the bits of one word are different locks. */
#include <glib.h>

static GMutex mutex;
static GRecMutex recursive;
static GRWLock rwlock;
static gint bits;
static int plain, nested, shared, low, high;

static void use_mutexes(void)
{
    g_mutex_lock(&mutex);
    plain++;
    g_mutex_unlock(&mutex);
    if (g_mutex_trylock(&mutex)) {
        plain++;
        g_mutex_unlock(&mutex);
    }
    g_rec_mutex_lock(&recursive);
    g_rec_mutex_lock(&recursive);
    nested++;
    g_rec_mutex_unlock(&recursive);
    nested++;
    g_rec_mutex_unlock(&recursive);
}

static gpointer work(gpointer unused)
{
    for (int i = 0; i < 3; i++) {
        use_mutexes();
        g_rw_lock_writer_lock(&rwlock);
        shared++;
        g_rw_lock_writer_unlock(&rwlock);
        g_rw_lock_reader_lock(&rwlock);
        int now = shared;
        g_rw_lock_reader_unlock(&rwlock);
        g_bit_lock(&bits, 0);
        low += now;
        g_bit_unlock(&bits, 0);
        g_bit_lock(&bits, 3);
        high++;
        g_bit_unlock(&bits, 3);
    }
    return unused;
}

int main(void)
{
    GThread *threads[3];
    for (int i = 0; i < 3; i++) {
        threads[i] = g_thread_new("work", work, NULL);
    }
    for (int i = 0; i < 3; i++) {
        g_thread_join(threads[i]);
    }
    g_mutex_clear(&mutex);
    g_rec_mutex_clear(&recursive);
    g_rw_lock_clear(&rwlock);
    return plain < 9 || nested != 18 || shared != 9 || low == 0 || high != 9;
}
