/* Race on value: it is written after the push. Predicted from every order. */
#include <glib.h>

typedef struct job {
    int value;
} job;

static GAsyncQueue *jobs;
static int seen;

static gpointer work(gpointer unused)
{
    job *next = g_async_queue_pop(jobs);
    seen = next->value;
    return unused;
}

int main(void)
{
    static job one, two;
    jobs = g_async_queue_new();
    GThread *thread = g_thread_new("work", work, NULL);
    g_async_queue_push(jobs, &one);
    one.value = 1;
    g_async_queue_push(jobs, &two);
    g_thread_join(thread);
    g_async_queue_unref(jobs);
    return 0;
}
