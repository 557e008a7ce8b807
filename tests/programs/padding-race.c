/* Race on total: one thread has no lock. Each sets structures to zero and reads them at once, in
 * many places of the code; the record of such a read must not look like that of the write before
 * it. Predicted from every order. */
#include <pthread.h>
#include <stddef.h>

typedef struct padded {
    int number;
    char padding_before_and_after;
    long sum;
} padded;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void look_at(padded *one)
{
    total += one->number + one->sum;
}

static void (*volatile look)(padded *) = look_at;

#define ONCE                                                                                       \
    {                                                                                              \
        places += 1000; /* so that code addresses are not all even */                              \
        padded one = {0};                                                                          \
        if (one.number == 0)                                                                       \
            look(&one);                                                                            \
    }
#define TIMES_4(what)   what what what what
#define TIMES_128(what) TIMES_4(TIMES_4(TIMES_4(what what)))

static void *work(void *unused)
{
    int places = 0;
    for (int i = 0; i < 60; i++) {
        pthread_mutex_lock(&lock);
        TIMES_128(ONCE)
        pthread_mutex_unlock(&lock);
    }
    return places == 0 ? NULL : unused;
}

static void *careless(void *unused)
{
    long seen = total;
    return seen == 1 ? NULL : unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, careless, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return total != 0;
}
