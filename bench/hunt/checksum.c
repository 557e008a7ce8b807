/* A race behind a check sum, which stands nowhere in the input. */
#include "common.h"

int accepted;

static void *work(void *unused)
{
    unsigned sum = 7;
    for (int i = 0; i < 8; i++)
        sum += 3u * input[i];
    if (input[0] == 'A' && sum == 3001)
        accepted = 1; /* race 1 */
    return unused;
}

int main(void)
{
    read_input(stdin);
    start(work);
    accepted = 2; /* race 1 */
    finish();
    return accepted > 9;
}
