/* No race: what was taken out is freed after a grace period. Everything atomic is assembly. */
#include "rcu.h"

static void update(item *fresh)
{
    item *old = swap_pointer(&current, fresh);
    wait_for_readers();
    free(old);
}

int main(void)
{
    return run(update);
}
