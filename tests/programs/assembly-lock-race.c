/* The main thread reads the counter under the wrong lock; all locks are inline assembly. Predicted from every order */
#include "assembly-lock.h"

static int seen;

static void look(void)
{
    lock_bit(&bit_word);
    seen = counter;
    unlock_bit(&bit_word);
}

int main(void)
{
    return run(look);
}
