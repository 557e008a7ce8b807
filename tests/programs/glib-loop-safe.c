/* No race: a thread gives the main loop data by sources, and ends it. */
#include <glib.h>

static GMainLoop *loop;
static int sum, calls;

static void add_value(const int *value)
{
    sum += *value;
    if (++calls == 6) {
        g_main_loop_quit(loop);
    }
}

static gboolean add(gpointer data)
{
    add_value(data);
    return FALSE;
}

static gboolean add_twice(gpointer data)
{
    add_value(data);
    return --*(int *)data > 0;
}

static void add_once(gpointer data)
{
    add_value(data);
    g_free(data);
}

static int *new_int(int value)
{
    int *made = g_new(int, 1);
    *made = value;
    return made;
}

static gpointer work(gpointer unused)
{
    g_idle_add(add, new_int(5));
    g_main_context_invoke(NULL, add, new_int(6));
    g_timeout_add_full(G_PRIORITY_DEFAULT, 0, add_twice, new_int(2), g_free);
    g_idle_add_once(add_once, new_int(7));
    GSource *source = g_idle_source_new();
    int *late = new_int(0);
    g_source_set_callback(source, add, late, g_free);
    *late = 8;
    g_source_attach(source, NULL);
    g_source_unref(source);
    return unused;
}

static int early;

static void see_early(gpointer data)
{
    *(int *)data += early;
}

/* Before the loop runs: nothing has to wake it. */
static gpointer add_early(gpointer seen)
{
    early = 3;
    g_idle_add_once(see_early, seen);
    g_timeout_add_once(0, see_early, (int *)seen + 1);
    return NULL;
}

static int sees_early(void)
{
    int seen[2] = {0, 0};
    GThread *thread = g_thread_new("early", add_early, seen);
    g_usleep(1000);
    while (seen[0] == 0 || seen[1] == 0) {
        g_main_context_iteration(NULL, TRUE);
    }
    g_thread_join(thread);
    g_idle_add_once(see_early, seen);
    return g_idle_remove_by_data(seen) && !g_idle_remove_by_data(seen);
}

int main(void)
{
    loop = g_main_loop_new(NULL, FALSE);
    GThread *thread = g_thread_new("work", work, NULL);
    g_main_loop_run(loop);
    g_thread_join(thread);
    g_main_loop_unref(loop);
    return sum != 5 + 6 + 2 + 1 + 7 + 8 || !sees_early();
}
