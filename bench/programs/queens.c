/* Counts ways to place queens; threads take first columns from a counter. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { SIZE = 9, THREADS = 2 };
static atomic_int next_column;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static long place(int *columns, int row)
{
    long found = 0;
    if (row == SIZE)
        return 1;
    for (int column = 0; column < SIZE; column++) {
        int fits = 1;
        for (int i = 0; i < row && fits; i++) {
            int apart = columns[i] - column;
            fits = apart && apart != row - i && apart != i - row;
        }
        if (!fits)
            continue;
        columns[row] = column;
        found += place(columns, row + 1);
    }
    return found;
}

static void *run(void *unused)
{
    for (int column; (column = atomic_fetch_add(&next_column, 1)) < SIZE;) {
        int columns[SIZE] = {column};
        long found = place(columns, 1);
        pthread_mutex_lock(&lock);
        total += found;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", total);
    return 0;
}
