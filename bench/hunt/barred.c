/* Behind conditions that exclude each other there is a race, which no input shows. */
#include "common.h"

int shared;

static void *work(void *unused)
{
    if (input[0] < 5 && (unsigned char)(input[0] + 3) > 9)
        shared = 1;
    return unused;
}

int main(void)
{
    read_input(stdin);
    start(work);
    shared = 2;
    finish();
    return shared > 9;
}
