/* A fiber runs in one thread and then in another; a switch orders what was before it. */
#include "fiber.h"

static int shared;
static void *home;
static ucontext_t *home_context;

static void body(void)
{
    for (;;) {
        shared++;
        leave(home, home_context, 0);
    }
}

static void *other(void *unused)
{
    ucontext_t here;
    home = __tsan_get_current_fiber();
    home_context = &here;
    enter(&here, 0);
    return unused;
}

int main(void)
{
    pthread_t thread;
    ucontext_t here;
    home = __tsan_get_current_fiber();
    home_context = &here;
    make(body);
    shared = 1;
    enter(&here, 0);
    shared++;
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    __tsan_destroy_fiber(fiber);
    return shared != 4;
}
