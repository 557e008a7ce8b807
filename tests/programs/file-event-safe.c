/* No race: who reads an event of inotify comes after the thread that made, wrote or removed the file. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

static char folder[] = P_tmpdir "/maxrace-file-event-XXXXXX", path[64], other[64];
static int made, removed, renamed, by_make, by_remove, by_rename;

static void *learn(void *unused)
{
    char events[4096];
    read(made, events, sizeof events);
    by_make = 2;
    read(removed, events, sizeof events);
    by_remove = 2;
    read(renamed, events, sizeof events);
    by_rename = 2;
    return unused;
}

static void *change(void *unused)
{
    by_make = 1;
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    close(fd);
    by_rename = 1;
    rename(path, other);
    by_remove = 1;
    unlink(other);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/a", folder);
    snprintf(other, sizeof other, "%s/b", folder);
    made = inotify_init();
    removed = inotify_init1(0);
    renamed = inotify_init1(0);
    inotify_add_watch(made, folder, IN_CREATE);
    inotify_add_watch(removed, folder, IN_DELETE);
    inotify_add_watch(renamed, folder, IN_MOVED_TO);
    pthread_create(&first, NULL, learn, NULL);
    pthread_create(&second, NULL, change, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    rmdir(folder);
    return 0;
}
