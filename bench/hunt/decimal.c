/* A race behind a number in digits. */
#include "common.h"

int balance = 100;

static void *work(void *unused)
{
    if (strtol((char *)input, NULL, 10) == 4711)
        balance -= 10; /* race 1: its read and its write, with the write of main */
    return unused;
}

int main(void)
{
    read_input(stdin);
    start(work);
    balance = 50;
    finish();
    return balance > 200;
}
