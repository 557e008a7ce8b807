/* A race behind a number of four bytes, in one thread, and a byte, in the other. */
#include "common.h"

int shared;

static void *work(void *unused)
{
    if (little(4) == 0xcafe1234)
        shared = 1; /* race 1 */
    return unused;
}

int main(void)
{
    read_input(stdin);
    start(work);
    if (input[1] == 'x')
        shared = 2; /* race 1 */
    finish();
    return shared > 9;
}
