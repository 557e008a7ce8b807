/* What was taken out is freed at once, whoever may read it still. Everything atomic is assembly. */
#include "rcu.h"

static void update(item *fresh)
{
    free(swap_pointer(&current, fresh));
    wait_for_readers();
}

int main(void)
{
    return run(update);
}
