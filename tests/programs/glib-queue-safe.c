/* No race: items of a GAsyncQueue belong to who gets them. */
#include <glib.h>

typedef struct job {
    int value, done;
} job;

static GAsyncQueue *jobs, *results;

static int by_value(gconstpointer a, gconstpointer b, gpointer unused)
{
    (void)unused;
    return ((const job *)a)->value - ((const job *)b)->value;
}

static gpointer work(gpointer unused)
{
    job *next;
    while ((next = g_async_queue_pop(jobs))->value < 100) {
        next->done = next->value * 2;
        g_async_queue_push(results, next);
    }
    g_free(next);
    return unused;
}

static job *new_job(int value)
{
    job *made = g_new0(job, 1);
    made->value = value;
    return made;
}

static int collect(void)
{
    int sum = 0;
    for (int i = 0; i < 6;) {
        job *next = i == 0   ? g_async_queue_timeout_pop(results, 1000000)
                    : i == 1 ? g_async_queue_try_pop(results)
                             : g_async_queue_pop(results);
        if (next != NULL) {
            sum += next->done;
            g_free(next);
            i++;
        }
    }
    return sum;
}

static int handed_over;

static gpointer take(gpointer queue)
{
    g_async_queue_pop(queue);
    handed_over++;
    return NULL;
}

/* A queue at the address of one that ended with items has nothing of them. */
static int begins_empty(void)
{
    GAsyncQueue *queue = g_async_queue_new();
    for (gpointer first = NULL; first != queue;) {
        first = first != NULL ? first : queue;
        g_async_queue_push(queue, GINT_TO_POINTER(1));
        g_async_queue_unref(queue);
        queue = g_async_queue_new();
    }
    GThread *thread = g_thread_new("take", take, queue);
    handed_over = 4;
    g_async_queue_push(queue, GINT_TO_POINTER(1));
    g_thread_join(thread);
    g_async_queue_unref(queue);
    return handed_over == 5;
}

static void say_nothing(const char *domain, GLogLevelFlags level, const char *text, gpointer unused)
{
    (void)domain;
    (void)level;
    (void)text;
    (void)unused;
}

int main(void)
{
    jobs = g_async_queue_new();
    results = g_async_queue_new();
    GThread *threads[2];
    for (int i = 0; i < 2; i++) {
        threads[i] = g_thread_new("work", work, NULL);
    }
    for (int i = 0; i < 3; i++) {
        g_async_queue_push(jobs, new_job(i));
        g_async_queue_push_sorted(jobs, new_job(i + 3), by_value, NULL);
    }
    int sum = collect();
    for (int i = 0; i < 2; i++) {
        g_async_queue_lock(jobs);
        g_async_queue_push_unlocked(jobs, new_job(100 + g_async_queue_length_unlocked(jobs) * 0));
        g_async_queue_unlock(jobs);
    }
    for (int i = 0; i < 2; i++) {
        g_thread_join(threads[i]);
    }
    g_log_set_default_handler(say_nothing, NULL);
    if (g_async_queue_try_pop(NULL) != NULL || g_async_queue_length(NULL) != 0) {
        return 1; /* GLib complains, and goes on */
    }
    g_async_queue_lock(jobs);
    g_async_queue_ref(jobs);
    G_GNUC_BEGIN_IGNORE_DEPRECATIONS
    g_async_queue_unref_and_unlock(jobs);
    G_GNUC_END_IGNORE_DEPRECATIONS
    if (g_async_queue_try_pop(jobs) != NULL) {
        return 1;
    }
    g_async_queue_unref(jobs);
    g_async_queue_unref(results);
    return sum != 30 || !begins_empty();
}
