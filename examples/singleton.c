/* Settings that the first thread to need them makes: the check before the lock reads what another
 * thread is writing. docs/tutorial.md. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    const char *host;
};

static struct settings *settings;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static struct settings *get_settings(void)
{
    if (settings == NULL) {
        pthread_mutex_lock(&making);
        if (settings == NULL) {
            settings = calloc(1, sizeof *settings);
            settings->host = "localhost";
        }
        pthread_mutex_unlock(&making);
    }
    return settings;
}

static void *connect_to_host(void *name)
{
    const char *host = get_settings()->host;
    printf("%s: a host of %zu letters\n", (const char *)name, strlen(host));
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, connect_to_host, "first");
    pthread_create(&second, NULL, connect_to_host, "second");
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    free(settings);
    return 0;
}
