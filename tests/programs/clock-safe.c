/* No race: the clocks that the program reads agree with the time that sleeps and limits take. */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int done;

static double now(clockid_t clock)
{
    struct timespec at;
    assert(clock_gettime(clock, &at) == 0);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static double time_of_day(void)
{
    struct timeval at;
    assert(gettimeofday(&at, NULL) == 0);
    return (double)at.tv_sec + (double)at.tv_usec / 1e6;
}

static void *work(void *unused)
{
    struct timespec at;
    double start = now(CLOCK_REALTIME);
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec += 2;
    pthread_mutex_lock(&lock);
    while (pthread_cond_timedwait(&never, &lock, &at) != ETIMEDOUT) {
    }
    double passed = now(CLOCK_REALTIME) - start;
    assert(passed >= 2 && passed < 3);
    done++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    double monotonic = now(CLOCK_MONOTONIC), coarse = now(CLOCK_MONOTONIC_COARSE);
    double real = time_of_day(), raw = now(CLOCK_MONOTONIC_RAW), boot = now(CLOCK_BOOTTIME);
    time_t seconds = time(NULL);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct itimerspec after = {.it_value = {.tv_sec = 4}};
    unsigned long long times;
    assert(timer >= 0 && timerfd_settime(timer, 0, &after, NULL) == 0);
    int beat = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct itimerspec each = {.it_value = {.tv_sec = 1}, .it_interval = {.tv_sec = 1}};
    assert(beat >= 0 && timerfd_settime(beat, 0, &each, NULL) == 0);
    pthread_create(&thread, NULL, work, NULL);
    assert(sleep(3) == 0);
    assert(now(CLOCK_MONOTONIC) - monotonic >= 3 && now(CLOCK_MONOTONIC) - monotonic < 4);
    assert(now(CLOCK_MONOTONIC_COARSE) - coarse >= 3 && now(CLOCK_MONOTONIC_RAW) - raw >= 3);
    assert(now(CLOCK_BOOTTIME) - boot >= 3 && time_of_day() - real >= 3);
    assert(time(NULL) - seconds >= 3 && time(NULL) - seconds <= 4);
    assert(read(timer, &times, sizeof times) < 0 && errno == EAGAIN);
    assert(read(beat, &times, sizeof times) == sizeof times && times == 3);
    assert(read(beat, &times, sizeof times) < 0 && errno == EAGAIN);
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += 2;
    assert(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == 0);
    assert(now(CLOCK_MONOTONIC) - monotonic >= 5 && now(CLOCK_MONOTONIC) - monotonic < 6);
    assert(read(timer, &times, sizeof times) == sizeof times && times == 1);
    assert(read(beat, &times, sizeof times) == sizeof times && times == 2);
    double before = now(CLOCK_MONOTONIC);
    assert(poll(NULL, 0, 30) == 0);
    assert(now(CLOCK_MONOTONIC) - before >= 0.03);
    pthread_join(thread, NULL);
    return done != 1;
}
