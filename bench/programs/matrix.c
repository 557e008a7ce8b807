/* Product of two matrices by two threads, half of the rows each. */
#include <pthread.h>
#include <stdio.h>

enum { SIZE = 128 };
static double left[SIZE][SIZE], right[SIZE][SIZE], product[SIZE][SIZE];

static void *rows(void *argument)
{
    long first = (long)argument * SIZE / 2;
    for (long i = first; i < first + SIZE / 2; i++)
        for (int j = 0; j < SIZE; j++)
            for (int k = 0; k < SIZE; k++)
                product[i][j] += left[i][k] * right[k][j];
    return NULL;
}

int main(void)
{
    pthread_t other;
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            left[i][j] = i + j;
            right[i][j] = i - j;
        }
    pthread_create(&other, NULL, rows, (void *)1);
    rows(0);
    pthread_join(other, NULL);
    printf("%g\n", product[SIZE - 1][0]);
    return 0;
}
