/* The main thread reads the counter without the lock. Predicted from every order */
#include "volatile-lock.h"

static int seen;

static void look(void)
{
    seen = counter;
}

int main(void)
{
    return run(look);
}
