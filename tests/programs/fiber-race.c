/* A fiber that is switched to without order is as a thread of its own. Predicted from every order. */
#include "fiber.h"

static int shared;
static void *home;
static ucontext_t here;

static void body(void)
{
    shared = 1;
    leave(home, &here, NO_SYNC);
}

int main(void)
{
    home = __tsan_get_current_fiber();
    make(body);
    shared = 2;
    enter(&here, NO_SYNC);
    __tsan_destroy_fiber(fiber);
    return 0;
}
