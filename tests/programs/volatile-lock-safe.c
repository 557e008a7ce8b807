/* No race: the counter is under a lock whose volatile accesses go with its inline assembly. */
#include "volatile-lock.h"

static int seen;

static void look(void)
{
    lock();
    seen = counter;
    unlock();
}

int main(void)
{
    return run(look);
}
