/* No race: who reads the end of the pipe closes it; numbers are given again to other files, in
 * both threads; a stream that is closed ends its descriptor. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int ends[2];

static void use_files(void)
{
    for (int i = 0; i < 3; i++) {
        char byte;
        int file = open("/dev/zero", O_RDONLY);
        if (read(file, &byte, 1) < 0) {
            return;
        }
        FILE *stream = fdopen(file, "r");
        if (stream != NULL) {
            fclose(stream);
        }
        file = dup(0);
        close(file);
    }
}

static void *work(void *unused)
{
    if (write(ends[1], "xy", 2) != 2) {
        return NULL;
    }
    use_files();
    return unused;
}

int main(void)
{
    pthread_t other;
    char bytes[2];
    if (pipe(ends) != 0) {
        return 1;
    }
    pthread_create(&other, NULL, work, NULL);
    if (read(ends[0], bytes, 2) != 2) {
        return 1;
    }
    close(ends[0]);
    close(ends[1]);
    use_files();
    pthread_join(other, NULL);
    return 0;
}
