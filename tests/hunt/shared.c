/* Says in a file who has run it, and ends with a status that the order of its threads gives: many behaviours, some findings. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int order;

static void *digit(void *number)
{
    pthread_mutex_lock(&lock);
    order = order * 6 + *(int *)number;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void sign(const char *path)
{
    char line[32];
    int length = snprintf(line, sizeof line, "%d\n", (int)getppid());
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (file < 0 || write(file, line, (size_t)length) != length)
        perror(path);
    close(file);
}

int main(int count, char **arguments)
{
    int numbers[6] = {0, 1, 2, 3, 4, 5};
    pthread_t threads[6];
    if (count > 1)
        sign(arguments[1]);
    for (int i = 0; i < 6; i++)
        pthread_create(&threads[i], NULL, digit, &numbers[i]);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    return order % 7;
}
