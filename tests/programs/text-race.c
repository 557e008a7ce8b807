/* Race on name: measured while another thread writes it. Predicted from every order. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char name[32] = "nobody";
static unsigned long length;

static void *one(void *unused)
{
    pthread_mutex_lock(&lock);
    strcpy(name, "somebody");
    snprintf(name + 4, sizeof name - 4, "%d", 1234);
    strcat(name, "!");
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *two(void *unused)
{
    length = strlen(name);
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
