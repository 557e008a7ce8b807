/* A small machine; one of its operations takes the lock too late. */
#include "common.h"

int cells[4];

static void run(unsigned char operation)
{
    switch (operation) {
    case 'a':
        pthread_mutex_lock(&lock);
        cells[0]++;
        pthread_mutex_unlock(&lock);
        break;
    case 'b':
        pthread_mutex_lock(&lock);
        cells[1] += cells[0];
        pthread_mutex_unlock(&lock);
        break;
    case 0xd7:
        cells[0] = 5; /* race 1, with the write of case a */
        pthread_mutex_lock(&lock);
        cells[2]++;
        pthread_mutex_unlock(&lock);
        break;
    default:
        break;
    }
}

static void *work(void *unused)
{
    run(input[2]);
    return unused;
}

int main(void)
{
    read_input(stdin);
    start(work);
    run('a');
    finish();
    return cells[0] > 9;
}
