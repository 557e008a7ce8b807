/* singleton.c without its races: pthread_once lets the others wait until the settings are made. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    const char *host;
};

static struct settings *settings;
static pthread_once_t made = PTHREAD_ONCE_INIT;

static void make_settings(void)
{
    settings = calloc(1, sizeof *settings);
    settings->host = "localhost";
}

static struct settings *get_settings(void)
{
    pthread_once(&made, make_settings);
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
