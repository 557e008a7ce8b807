/* The thread that makes the file writes the variable after it has removed it. Predicted from every order. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

static char folder[] = P_tmpdir "/maxrace-file-event-XXXXXX", path[64];
static int made, shared;

static void *learn(void *unused)
{
    char events[4096];
    read(made, events, sizeof events);
    shared = 2;
    return unused;
}

static void *change(void *unused)
{
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    close(fd);
    unlink(path);
    shared = 1;
    return unused;
}

int main(void)
{
    pthread_t first, second;
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/a", folder);
    made = inotify_init();
    inotify_add_watch(made, folder, IN_CREATE);
    pthread_create(&first, NULL, learn, NULL);
    pthread_create(&second, NULL, change, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    rmdir(folder);
    return 0;
}
