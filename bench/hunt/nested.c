/* A path of conditions to a free that another thread does not wait for. */
#include "common.h"

static void *work(void *block)
{
    unsigned x = input[0] | (unsigned)input[1] << 8;
    if (x > 1000 && x < 1017)
        if (2 * x == 2020)
            free(block); /* use after free 1 */
    return NULL;
}

int main(void)
{
    int *block = calloc(4, sizeof *block);
    read_input(stdin);
    pthread_create(&second, NULL, work, block);
    block[1] = 3; /* use after free 1 */
    pthread_join(second, NULL);
    return 0;
}
