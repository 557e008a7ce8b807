/*
 * What GLib does once. A GOnce is as a pthread_once_t (once.c): its words are written here. It is accessed by its macros, as volatile,
 * so what is logged here counts as inline assembly: such an access of the program is atomic then. The word of
 * g_once_init_enter stays 0 until g_once_init_leave; who initialises it is kept here. What the library does for itself, it does on its own.
 */
#include "explore.h"
#include "glib.h"
#include "sys.h"
#include "writer.h"

enum { FIRST = 0, RUNNING = 1, DONE = 2 };
enum { SEQ_CST = 5, INT = 2, POINTER = 3 };

static void log_access(mr_log_kind kind, const volatile void *address, unsigned detail,
                       int64_t value, uintptr_t code)
{
    mr_write_access(kind, detail | SEQ_CST << MR_LOG_ORDER_SHIFT, (const void *)address, value,
                    code);
}

static void wait_for(mr_thread *thread, const volatile void *key)
{
    if (mr_block(thread, (const void *)key, MR_NEVER, false) == MR_INTERRUPTED) {
        mr_attend(thread);
    }
}

typedef struct once {
    int status;
    void *result;
} once;

MR_EXPORT void *g_once_impl(once *once, void *(*function)(void *), void *argument);
void *g_once_impl(once *self, void *(*function)(void *), void *argument)
{
    mr_thread *thread = MR_GLIB_ENTER(g_once_impl);
    if (thread == NULL) {
        return MR_REAL(g_once_impl)(self, function, argument);
    }
    mr_yield(thread);
    while (self->status == RUNNING) {
        wait_for(thread, self);
    }
    mr_explore_choice(MR_LOG_CHOICE_ONCE, MR_LOG_ROLE_NONE, self, MR_CALLER, 0);
    if (self->status != FIRST) {
        log_access(MR_LOG_ATOMIC_READ, self, INT | MR_LOG_VOLATILE, DONE, MR_CALLER);
        mr_leave(thread);
        return self->result;
    }
    self->status = RUNNING;
    log_access(MR_LOG_ATOMIC_WRITE, self, INT | MR_LOG_VOLATILE, RUNNING, MR_CALLER);
    mr_leave(thread);
    void *result = function(argument);
    thread = mr_enter();
    self->result = result;
    if (thread != NULL) {
        log_access(MR_LOG_ATOMIC_WRITE, &self->result, POINTER | MR_LOG_VOLATILE, (int64_t)result,
                   MR_CALLER);
    }
    __atomic_store_n(&self->status, DONE, __ATOMIC_RELEASE);
    if (thread != NULL) {
        log_access(MR_LOG_ATOMIC_WRITE, self, INT | MR_LOG_VOLATILE, DONE, MR_CALLER);
        mr_wake_key(self);
        mr_leave(thread);
    }
    return result;
}

/* The words that are being initialised. */
typedef struct running {
    const volatile void *word; /* NULL: free entry */
    struct running *next;
} running;

static running *all_running;

static running *find(const volatile void *word)
{
    running *at = all_running;
    while (at != NULL && at->word != word) {
        at = at->next;
    }
    return at;
}

/* False: no memory. */
static bool begin(const volatile void *word)
{
    enum { BYTES = 4096 };
    running *at = find(NULL), *page = at == NULL ? mr_pages(BYTES) : NULL;
    for (size_t i = 0; page != NULL && i < BYTES / sizeof *page; i++) {
        page[i].next = all_running;
        all_running = at = &page[i];
    }
    if (at != NULL) {
        at->word = word;
    }
    return at != NULL;
}

/* NULL where the real function is to be called: `thread` has left then. */
static mr_thread *enter_word(mr_thread *thread, volatile void *word)
{
    if (thread != NULL) {
        mr_yield(thread);
        while (*(void *volatile *)word == NULL && find(word) != NULL) {
            wait_for(thread, word);
        }
        mr_explore_choice(MR_LOG_CHOICE_ONCE, MR_LOG_ROLE_NONE, word, MR_CALLER, 0);
        if (*(void *volatile *)word == NULL && !begin(word)) {
            mr_leave(thread);
            return NULL;
        }
    }
    return thread;
}

/* Is the caller to initialise it? Older programs call the function although the word is set. */
static int entered(mr_thread *thread, volatile void *word, uintptr_t code)
{
    int64_t value = (int64_t) * (void *volatile *)word;
    log_access(MR_LOG_ATOMIC_READ, word, POINTER, value, code);
    mr_leave(thread);
    return value == 0;
}

/* False: the word was entered elsewhere. */
static bool leave_word(mr_thread *thread, volatile void *word, void *value, uintptr_t code)
{
    running *its = find(word);
    if (its != NULL) {
        its->word = NULL;
        __atomic_store_n((void *volatile *)word, value, __ATOMIC_SEQ_CST);
        log_access(MR_LOG_ATOMIC_WRITE, word, POINTER, (int64_t)value, code);
        mr_wake_key((const void *)word);
    }
    mr_leave(thread);
    return its != NULL;
}

#define DEFINE_ONCE_INIT(enter_name, leave_name, type)                                             \
    MR_EXPORT int enter_name(volatile void *word);                                                 \
    int enter_name(volatile void *word)                                                            \
    {                                                                                              \
        mr_thread *thread = enter_word(MR_GLIB_ENTER(enter_name), word);                           \
        return thread == NULL ? MR_REAL(enter_name)(word) : entered(thread, word, MR_CALLER);      \
    }                                                                                              \
    MR_EXPORT void leave_name(volatile void *word, type value);                                    \
    void leave_name(volatile void *word, type value)                                               \
    {                                                                                              \
        mr_thread *thread = MR_GLIB_ENTER(leave_name);                                             \
        if (thread == NULL || !leave_word(thread, word, (void *)value, MR_CALLER)) {               \
            MR_REAL(leave_name)(word, value);                                                      \
        }                                                                                          \
    }
DEFINE_ONCE_INIT(g_once_init_enter, g_once_init_leave, size_t)
DEFINE_ONCE_INIT(g_once_init_enter_pointer, g_once_init_leave_pointer, void *)
#undef DEFINE_ONCE_INIT
