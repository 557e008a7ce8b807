/* Numbers at any address, by the functions of the sanitizers; each thread has its own bytes. */
#include <pthread.h>
#include <stdint.h>

uint32_t __sanitizer_unaligned_load32(const void *address);
void __sanitizer_unaligned_store16(void *address, uint16_t value);
void __sanitizer_unaligned_store64(void *address, uint64_t value);

static char bytes[16];

static void *other(void *unused)
{
    __sanitizer_unaligned_store64(bytes + 5, 7);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    __sanitizer_unaligned_store16(bytes + 3, 1);
    int seen = (int)__sanitizer_unaligned_load32(bytes + 1);
    pthread_join(thread, NULL);
    return seen == 0;
}
