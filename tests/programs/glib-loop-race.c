/* Race on x: the thread writes it after it has given the main loop, which runs, its address. Predicted from every order. */
#include <glib.h>

static GMainLoop *loop;
static GThread *thread;
static int x, seen;

static gboolean look(gpointer data)
{
    seen = *(int *)data;
    g_main_loop_quit(loop);
    return FALSE;
}

static gpointer work(gpointer unused)
{
    g_idle_add(look, &x);
    x = 1;
    return unused;
}

static gboolean start(gpointer unused)
{
    (void)unused;
    thread = g_thread_new("work", work, NULL);
    return FALSE;
}

int main(void)
{
    loop = g_main_loop_new(NULL, FALSE);
    g_idle_add(start, NULL);
    g_main_loop_run(loop);
    g_thread_join(thread);
    g_main_loop_unref(loop);
    return 0;
}
