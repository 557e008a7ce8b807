/* Race on the mapped page. Predicted from every order. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

static void *work(void *argument)
{
    int *page = argument;
    page[7] = 1;
    page[8]++;
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    int *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_create(&first, NULL, work, page);
    pthread_create(&second, NULL, work, page);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return munmap(page, 4096);
}
