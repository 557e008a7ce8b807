/* The slot of a descriptor's number is used once more after the descriptor was closed: then another
 * thread may have the number. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum { SLOTS = 256 };

static int uses[SLOTS];

static void *work(void *unused)
{
    for (int i = 0; i < 3; i++) {
        int file = open("/dev/null", O_RDONLY);
        if (file < 0 || file >= SLOTS) {
            return NULL;
        }
        uses[file]++;
        sched_yield();
        close(file);
        uses[file]--;
        sched_yield();
    }
    return unused;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&two, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
