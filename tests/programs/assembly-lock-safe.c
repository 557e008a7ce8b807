/* No race: everything is under a lock of inline assembly, or handed on by one. */
#include "assembly-lock.h"

static int seen;

static void look(void)
{
    lock(&lock_word);
    seen = counter;
    unlock(&lock_word);
}

int main(void)
{
    return run(look);
}
