/* A fiber with its annotations: the twins fiber-*. */
#include <pthread.h>
#include <stddef.h>
#include <ucontext.h>

void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __tsan_set_fiber_name(void *fiber, const char *name);

enum { NO_SYNC = 1 };

static char stack[256 * 1024] __attribute__((aligned(16)));
static ucontext_t context;
static void *fiber;

static inline void make(void (*body)(void))
{
    fiber = __tsan_create_fiber(0);
    __tsan_set_fiber_name(fiber, "fiber");
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = sizeof stack;
    context.uc_link = NULL;
    makecontext(&context, body, 0);
}

static inline void enter(ucontext_t *from, unsigned flags)
{
    __tsan_switch_to_fiber(fiber, flags);
    swapcontext(from, &context);
}

static inline void leave(void *to, ucontext_t *there, unsigned flags)
{
    __tsan_switch_to_fiber(to, flags);
    swapcontext(&context, there);
}
