/* Race with the realloc of a small block to the size that it has, or to a smaller one, while another thread reads the block. It may
 * move, so the old pointer is of no use after it. Predicted from every order. */
#include <pthread.h>
#include <stdlib.h>

static void *look(void *from)
{
    return *(char *)from == 0 ? NULL : from;
}

static int resize(size_t bytes)
{
    pthread_t other;
    char *block = calloc(1, 100);
    pthread_create(&other, NULL, look, block);
    block = realloc(block, bytes);
    void *wrong;
    pthread_join(other, &wrong);
    free(block);
    return wrong == NULL && block != NULL ? 0 : 1;
}

int main(void)
{
    return resize(100) + resize(50);
}
