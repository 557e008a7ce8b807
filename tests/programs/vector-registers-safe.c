/* No race: inline assembly leaves values in vector registers while memory is accessed and a function is called, and finds them again, also
 * where another thread ran in between. */
#include <pthread.h>
#include <string.h>

enum { ROUNDS = 300, WORDS = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long words[WORDS];
static int lost;

__attribute__((noinline)) static void add(long *to, long what)
{
    *to += what;
}

static void *work(void *number)
{
    long bytes[4], kept[4], mine[2] = {(long)number, 0};
    memset(bytes, (int)(long)number, sizeof bytes);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&lock);
#if defined(__x86_64__)
        __asm__ volatile("movdqu %0, %%xmm0" : : "m"(*(const char(*)[16])bytes));
        __asm__ volatile("movdqu %0, %%xmm7" : : "m"(*(const char(*)[16])(bytes + 2)));
#else
        memcpy(kept, bytes, sizeof kept);
#endif
        for (int i = 0; i < WORDS; i++)
            words[i] += mine[0];
        add(&mine[1], words[round % WORDS]);
#if defined(__x86_64__)
        __asm__ volatile("movdqu %%xmm0, %0" : "=m"(*(char(*)[16])kept));
        __asm__ volatile("movdqu %%xmm7, %0" : "=m"(*(char(*)[16])(kept + 2)));
#endif
        lost += memcmp(bytes, kept, sizeof kept) != 0;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, work, (void *)1);
    pthread_create(&second, NULL, work, (void *)2);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return lost != 0;
}
