/* Three threads: one order of the first race, then a byte of the input, then an assertion. */
#include "common.h"

volatile int stage; /* volatile: or the compiler reads it once */

static void *work(void *unused)
{
    stage = 1;
    return unused;
}

static void *check(void *unused)
{
    int first = stage, again;
    if (input[3] == '!') {
        again = stage;
        assert(first == again); /* fails when work comes between */
    }
    return unused;
}

int main(void)
{
    pthread_t third;
    read_input(stdin);
    start(work);
    pthread_create(&third, NULL, check, NULL);
    pthread_join(third, NULL);
    finish();
    return 0;
}
