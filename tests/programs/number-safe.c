/* No race: the number of a descriptor chooses a slot of a table, and nobody has the number at the
 * same time. Two threads that open files get the same numbers, one after the other. */
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
        uses[file]--;
        close(file);
        sched_yield();
    }
    int ends[2];
    if (pipe(ends) == 0 && ends[0] < SLOTS && ends[1] < SLOTS) {
        uses[ends[0]]++;
        uses[ends[1]]++;
        close(ends[1]);
        close(ends[0]);
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
