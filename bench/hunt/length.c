/* A race when the input has one length. */
#include "common.h"

int seen;

static void *work(void *unused)
{
    if (input_size == 13)
        seen = 1; /* race 1 */
    return unused;
}

int main(void)
{
    read_input(stdin);
    start(work);
    seen = 2; /* race 1 */
    finish();
    return seen > 9;
}
