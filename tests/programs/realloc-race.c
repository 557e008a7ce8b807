/* Race with the realloc of a block that gets larger and moves, while another thread reads the block.
 * Predicted from every order. */
#include <pthread.h>
#include <stdlib.h>

static char *block;

static void *look(void *from)
{
    return *(char *)from == 0 ? NULL : from;
}

int main(void)
{
    pthread_t other;
    block = calloc(1, 100);
    pthread_create(&other, NULL, look, block);
    block = realloc(block, 1000);
    void *wrong;
    pthread_join(other, &wrong);
    return wrong == NULL && block != NULL ? 0 : 1;
}
