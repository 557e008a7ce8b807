/*
 * GAsyncQueue and GThreadPool, where GLib is not recorded. Who pushes an item comes before who gets it. The pushes keep their order, and
 * so do those who take from a queue, because what each gets depends on that; who finds it empty, or asks how long it is, sees how many there
 * were of both.
 *
 * A queue is used by one call at a time: no other thread runs in it, so the real functions never wait for the queue's lock. A
 * thread that waits for an item, or for the lock that another one has asked for itself (g_async_queue_lock), waits in the runtime.
 */
#include "clocks.h"
#include "glib.h"
#include "sys.h"
#include "writer.h"

#include <stdlib.h>

/* ---- items that were pushed and not taken yet ---- */

typedef struct item {
    const void *queue, *data;
    const void *token;
    struct item *next;
} item;

enum { BUCKETS_LOG2 = 12 };
static struct {
    item *first, **end;
} buckets[1 << BUCKETS_LOG2];
static item *free_items;
static size_t items; /* in the buckets */

static size_t bucket_of(const void *queue, const void *data)
{
    return ((uint64_t)queue ^ (uint64_t)data * 31) * 0x9e3779b97f4a7c15u >> (64 - BUCKETS_LOG2);
}

static void log_order(mr_log_kind kind, const void *token, uintptr_t code)
{
    if (token != NULL) {
        mr_write_object(kind, MR_LOG_ROLE_NONE, token, code, 0, 0);
    }
}

/* The place that stands for those who take from the queue. The queue's own stands for those who push. */
static const void *takers_of(const void *queue)
{
    return (const char *)queue + 1;
}

static void log_pushed(const void *queue, const void *data, uintptr_t code)
{
    enum { BYTES = 4096 };
    item *page = free_items == NULL ? mr_pages(BYTES) : NULL;
    for (size_t i = 0; page != NULL && i < BYTES / sizeof *page; i++) {
        page[i].next = free_items;
        free_items = &page[i];
    }
    item *added = free_items;
    log_order(MR_LOG_BEFORE, queue, code);
    if (added == NULL) {
        return;
    }
    free_items = added->next;
    items++;
    *added = (item){queue, data, mr_glib_token(), NULL};
    size_t bucket = bucket_of(queue, data);
    if (buckets[bucket].first == NULL) {
        buckets[bucket].end = &buckets[bucket].first;
    }
    *buckets[bucket].end = added;
    buckets[bucket].end = &added->next;
    log_order(MR_LOG_BEFORE, added->token, code);
}

static void unlink_item(size_t bucket, item **link)
{
    item *found = *link;
    *link = found->next;
    if (found->next == NULL) {
        buckets[bucket].end = link;
    }
    found->next = free_items;
    free_items = found;
    items--;
}

/* The token of the oldest of the items. NULL: there is none. */
static const void *remove_item(const void *queue, const void *data)
{
    size_t bucket = bucket_of(queue, data);
    item **link = &buckets[bucket].first;
    while (*link != NULL && ((*link)->queue != queue || (*link)->data != data)) {
        link = &(*link)->next;
    }
    if (*link == NULL) {
        return NULL;
    }
    const void *token = (*link)->token;
    unlink_item(bucket, link);
    return token;
}

/* A queue, or a pool, begins: items at its address are left from an earlier one, which has ended with them. */
static void begin_queue(const void *queue)
{
    mr_thread *thread = mr_enter();
    for (size_t i = 0; thread != NULL && items != 0 && i < sizeof buckets / sizeof *buckets; i++) {
        for (item **link = &buckets[i].first; *link != NULL;) {
            if ((*link)->queue == queue) {
                unlink_item(i, link);
            } else {
                link = &(*link)->next;
            }
        }
    }
    if (thread != NULL) {
        mr_leave(thread);
    }
}

#define DEFINE_NEW_QUEUE(name, parameters, arguments)                                              \
    MR_EXPORT void *name parameters;                                                               \
    void *name parameters                                                                          \
    {                                                                                              \
        mr_glib_lend_caller(MR_CALLER);                                                            \
        void *made = MR_REAL(name) arguments;                                                      \
        mr_glib_take_back_caller(MR_CALLER);                                                       \
        begin_queue(made);                                                                         \
        return made;                                                                               \
    }
DEFINE_NEW_QUEUE(g_async_queue_new, (void), ())
DEFINE_NEW_QUEUE(g_async_queue_new_full, (void (*destroy)(void *data)), (destroy))
#undef DEFINE_NEW_QUEUE

static void log_taken(const void *queue, const void *data, uintptr_t code)
{
    log_order(MR_LOG_AFTER, remove_item(queue, data), code);
    log_order(MR_LOG_BEFORE, takers_of(queue), code);
}

static void log_looked(const void *queue, uintptr_t code)
{
    log_order(MR_LOG_AFTER, queue, code);
    log_order(MR_LOG_AFTER, takers_of(queue), code);
}

/* ---- queues that a thread has locked ---- */

typedef struct locked {
    const void *queue; /* NULL: free entry */
    const mr_thread *thread;
    struct locked *next;
} locked;

static locked *all_locked;

static locked *find_locked(const void *queue)
{
    locked *at = all_locked;
    while (at != NULL && at->queue != queue) {
        at = at->next;
    }
    return at;
}

static void wait_for(mr_thread *thread, const void *key)
{
    if (mr_block(thread, key, MR_NEVER, false) == MR_INTERRUPTED) {
        mr_attend(thread);
    }
}

static void take_lock(mr_thread *thread, void *queue, void (*real)(void *queue), uintptr_t code)
{
    enum { BYTES = 4096 };
    while (find_locked(queue) != NULL) {
        mr_write_object(MR_LOG_BLOCKED, MR_LOG_ROLE_OWN, queue, code, 0, 0);
        wait_for(thread, takers_of(queue));
    }
    locked *at = find_locked(NULL), *page = at == NULL ? mr_pages(BYTES) : NULL;
    for (size_t i = 0; page != NULL && i < BYTES / sizeof *page; i++) {
        page[i].next = all_locked;
        all_locked = at = &page[i];
    }
    if (at != NULL) {
        at->queue = queue;
        at->thread = thread;
    }
    real(queue);
    mr_write_object(MR_LOG_ACQUIRE, MR_LOG_ROLE_OWN, queue, code, 0, 0);
}

static void give_lock(void *queue, void (*real)(void *queue), uintptr_t code)
{
    locked *at = find_locked(queue);
    mr_write_object(MR_LOG_RELEASE, MR_LOG_ROLE_OWN, queue, code, 0, 0);
    real(queue);
    if (at != NULL) {
        at->queue = NULL;
    }
    mr_wake_key(takers_of(queue));
}

/* A call that takes the lock for itself. */
static mr_thread *enter_queue(mr_thread *thread, const void *queue)
{
    if (thread != NULL) {
        mr_yield(thread);
        while (find_locked(queue) != NULL) {
            wait_for(thread, takers_of(queue));
        }
    }
    return thread;
}

/* Without a queue the real function complains. */
#define ENTER(name, queue) ((queue) != NULL ? MR_GLIB_ENTER(name) : NULL)

MR_EXPORT void g_async_queue_lock(void *queue);
void g_async_queue_lock(void *queue)
{
    mr_thread *thread = ENTER(g_async_queue_lock, queue);
    if (thread == NULL) {
        MR_REAL(g_async_queue_lock)(queue);
        return;
    }
    mr_yield(thread);
    take_lock(thread, queue, MR_REAL(g_async_queue_lock), MR_CALLER);
    mr_leave(thread);
}

MR_EXPORT void g_async_queue_unlock(void *queue);
void g_async_queue_unlock(void *queue)
{
    mr_thread *thread = ENTER(g_async_queue_unlock, queue);
    if (thread == NULL) {
        MR_REAL(g_async_queue_unlock)(queue);
        return;
    }
    mr_yield(thread);
    give_lock(queue, MR_REAL(g_async_queue_unlock), MR_CALLER);
    mr_leave(thread);
}

MR_EXPORT void g_async_queue_unref(void *queue);

/* Of older programs. */
MR_EXPORT void g_async_queue_unref_and_unlock(void *queue);
void g_async_queue_unref_and_unlock(void *queue)
{
    if (queue == NULL || mr_is_instrumented((uintptr_t)MR_REAL(g_async_queue_unref_and_unlock))) {
        MR_REAL(g_async_queue_unref_and_unlock)(queue);
        return;
    }
    g_async_queue_unlock(queue);
    g_async_queue_unref(queue);
}

/* ---- pushing and taking ---- */

/* The functions of which the caller has the lock differ in that alone. */
#define ENTER_LOCKED(thread, queue) (thread)

#define DEFINE_PUSH(name, enter)                                                                   \
    MR_EXPORT void name(void *queue, void *data);                                                  \
    void name(void *queue, void *data)                                                             \
    {                                                                                              \
        mr_thread *thread = enter(ENTER(name, queue), queue);                                      \
        if (thread == NULL) {                                                                      \
            MR_REAL(name)(queue, data);                                                            \
            return;                                                                                \
        }                                                                                          \
        log_pushed(queue, data, MR_CALLER);                                                        \
        MR_REAL(name)(queue, data);                                                                \
        mr_wake_key(queue);                                                                        \
        mr_leave(thread);                                                                          \
    }
DEFINE_PUSH(g_async_queue_push, enter_queue)
DEFINE_PUSH(g_async_queue_push_unlocked, ENTER_LOCKED)
DEFINE_PUSH(g_async_queue_push_front, enter_queue)
DEFINE_PUSH(g_async_queue_push_front_unlocked, ENTER_LOCKED)
#undef DEFINE_PUSH

/* Compares items by a function of the program. It runs with the lock of the queue, as in the library, and is recorded. */
typedef int (*compare_function)(const void *one, const void *other, void *user_data);

MR_EXPORT void g_async_queue_push_sorted_unlocked(void *queue, void *data, compare_function compare,
                                                  void *user_data);
void g_async_queue_push_sorted_unlocked(void *queue, void *data, compare_function compare,
                                        void *user_data)
{
    mr_thread *thread = ENTER(g_async_queue_push_sorted_unlocked, queue);
    if (thread != NULL) {
        log_pushed(queue, data, MR_CALLER);
        mr_leave(thread);
    }
    MR_REAL(g_async_queue_push_sorted_unlocked)(queue, data, compare, user_data);
    if (thread != NULL) {
        mr_wake_key(queue);
    }
}

MR_EXPORT void g_async_queue_sort_unlocked(void *queue, compare_function compare, void *user_data);
void g_async_queue_sort_unlocked(void *queue, compare_function compare, void *user_data)
{
    mr_thread *thread = ENTER(g_async_queue_sort_unlocked, queue);
    if (thread != NULL) {
        log_looked(queue, MR_CALLER);
        log_order(MR_LOG_BEFORE, queue, MR_CALLER); /* it changes what others get */
        mr_leave(thread);
    }
    MR_REAL(g_async_queue_sort_unlocked)(queue, compare, user_data);
}

MR_EXPORT void g_async_queue_push_sorted(void *queue, void *data, compare_function compare,
                                         void *user_data);
void g_async_queue_push_sorted(void *queue, void *data, compare_function compare, void *user_data)
{
    if (queue == NULL || mr_is_instrumented((uintptr_t)MR_REAL(g_async_queue_push_sorted))) {
        MR_REAL(g_async_queue_push_sorted)(queue, data, compare, user_data);
        return;
    }
    g_async_queue_lock(queue);
    g_async_queue_push_sorted_unlocked(queue, data, compare, user_data);
    g_async_queue_unlock(queue);
}

MR_EXPORT void g_async_queue_sort(void *queue, compare_function compare, void *user_data);
void g_async_queue_sort(void *queue, compare_function compare, void *user_data)
{
    if (queue == NULL || mr_is_instrumented((uintptr_t)MR_REAL(g_async_queue_sort))) {
        MR_REAL(g_async_queue_sort)(queue, compare, user_data);
        return;
    }
    g_async_queue_lock(queue);
    g_async_queue_sort_unlocked(queue, compare, user_data);
    g_async_queue_unlock(queue);
}

#define DEFINE_REMOVE(name, enter)                                                                 \
    MR_EXPORT int name(void *queue, void *data);                                                   \
    int name(void *queue, void *data)                                                              \
    {                                                                                              \
        mr_thread *thread = enter(ENTER(name, queue), queue);                                      \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name)(queue, data);                                                     \
        }                                                                                          \
        int removed = MR_REAL(name)(queue, data);                                                  \
        log_looked(queue, MR_CALLER);                                                              \
        if (removed) {                                                                             \
            log_taken(queue, data, MR_CALLER);                                                     \
        }                                                                                          \
        mr_leave(thread);                                                                          \
        return removed;                                                                            \
    }
DEFINE_REMOVE(g_async_queue_remove, enter_queue)
DEFINE_REMOVE(g_async_queue_remove_unlocked, ENTER_LOCKED)
#undef DEFINE_REMOVE

/* How many wait for an item: the length is less by that, and may be negative. */
static int waiting_at(const void *queue)
{
    int count = 0;
    for (const mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        count += t->key == queue;
    }
    return count;
}

#define DEFINE_LENGTH(name, enter)                                                                 \
    MR_EXPORT int name(void *queue);                                                               \
    int name(void *queue)                                                                          \
    {                                                                                              \
        mr_thread *thread = enter(ENTER(name, queue), queue);                                      \
        int length = MR_REAL(name)(queue);                                                         \
        if (thread != NULL) {                                                                      \
            length -= waiting_at(queue);                                                           \
            log_looked(queue, MR_CALLER);                                                          \
            mr_leave(thread);                                                                      \
        }                                                                                          \
        return length;                                                                             \
    }
DEFINE_LENGTH(g_async_queue_length, enter_queue)
DEFINE_LENGTH(g_async_queue_length_unlocked, ENTER_LOCKED)
#undef DEFINE_LENGTH

MR_EXPORT void *g_async_queue_try_pop(void *queue);
MR_EXPORT void *g_async_queue_try_pop_unlocked(void *queue);

/* Takes an item, or NULL when the limit is over (0: at once). `has_lock`: the caller has the lock, which it is without while it waits. */
static void *take(mr_thread *thread, void *queue, int64_t limit, bool has_lock, uintptr_t code)
{
    for (;;) {
        void *data = has_lock ? MR_REAL(g_async_queue_try_pop_unlocked)(queue)
                              : MR_REAL(g_async_queue_try_pop)(queue);
        if (data != NULL) {
            log_taken(queue, data, code);
            return data;
        }
        if (limit <= mr_virtual_now()) {
            log_looked(queue, code);
            return NULL;
        }
        if (has_lock) {
            give_lock(queue, MR_REAL(g_async_queue_unlock), code);
        }
        mr_write_object(MR_LOG_BLOCKED, MR_LOG_ROLE_NONE, NULL, code, 0, 0);
        mr_wake_reason reason = mr_block(thread, queue, limit, false);
        if (reason == MR_INTERRUPTED) {
            mr_attend(thread);
        }
        if (has_lock) {
            take_lock(thread, queue, MR_REAL(g_async_queue_lock), code);
        } else {
            enter_queue(thread, queue);
        }
    }
}

static int64_t limit_in(uint64_t microseconds)
{
    const uint64_t longest = INT64_MAX / 4000;
    return mr_limit_after((int64_t)(microseconds < longest ? microseconds : longest) * 1000);
}

/* The time is {seconds, microseconds}, NULL: never. */
static int64_t limit_at(const long *time)
{
    struct timespec at = {time != NULL ? time[0] : 0, time != NULL ? time[1] * 1000 : 0};
    return mr_limit_at(CLOCK_REALTIME, time != NULL ? &at : NULL);
}

#define DEFINE_POP(name, parameters, arguments, enter, has_lock, limit)                            \
    MR_EXPORT void *name parameters;                                                               \
    void *name parameters                                                                          \
    {                                                                                              \
        mr_thread *thread = enter(ENTER(name, queue), queue);                                      \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        void *data = take(thread, queue, limit, has_lock, MR_CALLER);                              \
        mr_leave(thread);                                                                          \
        return data;                                                                               \
    }
DEFINE_POP(g_async_queue_pop, (void *queue), (queue), enter_queue, false, MR_NEVER)
DEFINE_POP(g_async_queue_pop_unlocked, (void *queue), (queue), ENTER_LOCKED, true, MR_NEVER)
DEFINE_POP(g_async_queue_try_pop, (void *queue), (queue), enter_queue, false, 0)
DEFINE_POP(g_async_queue_try_pop_unlocked, (void *queue), (queue), ENTER_LOCKED, true, 0)
DEFINE_POP(g_async_queue_timeout_pop, (void *queue, uint64_t wait_us), (queue, wait_us),
           enter_queue, false, limit_in(wait_us))
DEFINE_POP(g_async_queue_timeout_pop_unlocked, (void *queue, uint64_t wait_us), (queue, wait_us),
           ENTER_LOCKED, true, limit_in(wait_us))
DEFINE_POP(g_async_queue_timed_pop, (void *queue, const long *end), (queue, end), enter_queue,
           false, limit_at(end))
DEFINE_POP(g_async_queue_timed_pop_unlocked, (void *queue, const long *end), (queue, end),
           ENTER_LOCKED, true, limit_at(end))
#undef DEFINE_POP

/* ---- pools of threads ---- */

typedef void (*pool_function)(void *data, void *user_data);

/* The function of a pool, which runs between the push and what waits for the end of all. */
typedef struct pool_use {
    pool_function function;
    void *user_data, *pool;
    const void *ended;
} pool_use;

static void run(void *data, void *self)
{
    pool_use *use = self;
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        log_order(MR_LOG_AFTER, remove_item(use->pool, data), MR_CALLER);
        log_order(MR_LOG_BEFORE, takers_of(use->pool), MR_CALLER);
        mr_leave(thread);
    }
    use->function(data, use->user_data);
    mr_glib_order(MR_LOG_BEFORE, use->ended, MR_CALLER);
}

static pool_use *make_use(mr_thread *thread, pool_function function, void *user_data)
{
    pool_use *use = thread != NULL ? malloc(sizeof *use) : NULL;
    if (use != NULL) {
        *use = (pool_use){function, user_data, NULL, mr_glib_token()};
    }
    if (thread != NULL) {
        mr_leave(thread);
    }
    return use;
}

/* What the library knows of the pool begins like this. */
typedef struct pool_head {
    pool_function function;
    void *user_data;
} pool_head;

static pool_use *use_of(const pool_head *pool)
{
    return pool != NULL && pool->function == run ? pool->user_data : NULL;
}

static void *made(pool_use *use, void *pool, uintptr_t code)
{
    if (use != NULL && pool != NULL) {
        use->pool = pool;
        begin_queue(pool);
        mr_glib_order(MR_LOG_BEFORE, pool, code);
    }
    return pool;
}

MR_EXPORT void *g_thread_pool_new(pool_function function, void *user_data, int most, int exclusive,
                                  void *error);
void *g_thread_pool_new(pool_function function, void *user_data, int most, int exclusive,
                        void *error)
{
    pool_use *use = make_use(MR_GLIB_ENTER(g_thread_pool_new), function, user_data);
    return use == NULL
               ? MR_REAL(g_thread_pool_new)(function, user_data, most, exclusive, error)
               : made(use, MR_REAL(g_thread_pool_new)(run, use, most, exclusive, error), MR_CALLER);
}

MR_EXPORT void *g_thread_pool_new_full(pool_function function, void *user_data,
                                       void (*free_item)(void *data), int most, int exclusive,
                                       void *error);
void *g_thread_pool_new_full(pool_function function, void *user_data, void (*free_item)(void *data),
                             int most, int exclusive, void *error)
{
    pool_use *use = make_use(MR_GLIB_ENTER(g_thread_pool_new_full), function, user_data);
    return use == NULL
               ? MR_REAL(g_thread_pool_new_full)(function, user_data, free_item, most, exclusive,
                                                 error)
               : made(use,
                      MR_REAL(g_thread_pool_new_full)(run, use, free_item, most, exclusive, error),
                      MR_CALLER);
}

MR_EXPORT int g_thread_pool_push(void *pool, void *data, void *error);
int g_thread_pool_push(void *pool, void *data, void *error)
{
    mr_thread *thread = use_of(pool) != NULL ? mr_enter() : NULL;
    if (thread != NULL) {
        mr_yield(thread);
        log_pushed(pool, data, MR_CALLER);
        thread->creates_at = MR_CALLER; /* it may begin a thread */
        mr_leave(thread);
    }
    int pushed = MR_REAL(g_thread_pool_push)(pool, data, error);
    if (thread != NULL) {
        thread->creates_at = 0;
    }
    return pushed;
}

MR_EXPORT unsigned g_thread_pool_unprocessed(void *pool);
unsigned g_thread_pool_unprocessed(void *pool)
{
    unsigned count = MR_REAL(g_thread_pool_unprocessed)(pool);
    mr_thread *thread = use_of(pool) != NULL ? mr_enter() : NULL;
    if (thread != NULL) {
        log_looked(pool, MR_CALLER);
        mr_leave(thread);
    }
    return count;
}

MR_EXPORT void g_thread_pool_free(void *pool, int immediate, int waits);
void g_thread_pool_free(void *pool, int immediate, int waits)
{
    const pool_use *use = use_of(pool);
    if (use != NULL) {
        mr_glib_order(MR_LOG_AFTER, pool, MR_CALLER); /* it may free what was pushed */
    }
    MR_REAL(g_thread_pool_free)(pool, immediate, waits);
    if (use != NULL && waits) {
        mr_glib_order(MR_LOG_AFTER, use->ended, MR_CALLER);
    }
}
