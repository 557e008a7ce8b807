/* Race on the second byte of a word. Predicted from every order. */
#include <pthread.h>
#include <stdint.h>

static union {
    uint32_t word;
    uint16_t halves[2];
    uint8_t bytes[4];
} x;

static void *one(void *unused)
{
    x.word = 0x01020304;
    return unused;
}

static void *two(void *unused)
{
    x.bytes[1] = 9;
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, two, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
