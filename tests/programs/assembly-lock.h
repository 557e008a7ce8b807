/* Locks of inline assembly without annotations, as programs have them: taken by compare and exchange, released by a locked
 * subtraction; with a bit as the lock; and handed on by moves. */
#include <pthread.h>
#include <sched.h>

enum { ROUNDS = 3 };

static int lock_word, bit_word, ready;
static int counter, bits, message;

static void lock(int *word)
{
    for (;;) {
        int expected = 0;
        __asm__ volatile("lock; cmpxchgl %2, %1"
                         : "+a"(expected), "+m"(*word)
                         : "r"(1)
                         : "memory", "cc");
        if (expected == 0) {
            return;
        }
        sched_yield();
    }
}

static void unlock(int *word)
{
    __asm__ volatile("lock subl $1, %0" : "+m"(*word) : : "memory", "cc");
}

static void lock_bit(int *word)
{
    unsigned char taken;
    do {
        __asm__ volatile("lock btsl %2, %0\n\tsetc %1"
                         : "+m"(*word), "=q"(taken)
                         : "r"(5)
                         : "memory", "cc");
    } while (taken && sched_yield() == 0);
}

static void unlock_bit(int *word)
{
    __asm__ volatile("lock btrl $5, %0" : "+m"(*word) : : "memory", "cc");
}

static int load(int *from)
{
    int value;
    __asm__ volatile("movl %1, %0" : "=r"(value) : "m"(*from) : "memory");
    return value;
}

static void store(int *to, int value)
{
    __asm__ volatile("movl %1, %0" : "=m"(*to) : "r"(value) : "memory");
}

static void *work(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        lock(&lock_word);
        counter++;
        unlock(&lock_word);
        lock_bit(&bit_word);
        bits++;
        unlock_bit(&bit_word);
    }
    return unused;
}

static void *send(void *unused)
{
    message = 7;
    store(&ready, 1);
    return unused;
}

static int run(void (*look)(void))
{
    pthread_t threads[3];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, work, NULL);
    }
    pthread_create(&threads[2], NULL, send, NULL);
    while (!load(&ready)) {
        sched_yield();
    }
    int got = message;
    look();
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    return counter == 2 * ROUNDS && bits == 2 * ROUNDS && got == 7 ? 0 : 1;
}
