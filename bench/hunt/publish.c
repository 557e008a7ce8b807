/* Data and a plain flag: both race, and the reader fails when it comes between them. No input. */
#include "common.h"

int value, done;

static void *work(void *unused)
{
    done = 1;  /* race 1 */
    value = 9; /* race 2 */
    return unused;
}

int main(void)
{
    read_input(NULL);
    start(work);
    if (done)               /* race 1 */
        assert(value == 9); /* race 2 */
    finish();
    return 0;
}
