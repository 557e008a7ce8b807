/* No race: each thread reads a folder of its own, to its end, and a file that cannot be opened. */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>

static void *work(void *path)
{
    int entries = 0;
    DIR *folder = opendir(path);
    while (folder != NULL && readdir(folder) != NULL) {
        entries++;
    }
    if (folder != NULL) {
        closedir(folder);
    }
    FILE *none = fopen("/nowhere/nothing", "r");
    return none == NULL && entries > 0 ? path : NULL;
}

int main(void)
{
    pthread_t other;
    static char top[] = "/", usr[] = "/usr";
    pthread_create(&other, NULL, work, top);
    work(usr);
    pthread_join(other, NULL);
    return 0;
}
