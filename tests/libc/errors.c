/*
 * Calls that fail, with the error that they leave, and calls that leave errno as it was. Prints a line for each: not recorded
 * and recorded they must be the same.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <iconv.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { KEPT = 77, NEVER = 150 }; /* NEVER: no descriptor has the number */

static char text[64];

static void say(const char *call, long result, int error)
{
    printf("%s: %ld %s\n", call, result,
           strerrorname_np(error) != NULL ? strerrorname_np(error) : "kept");
}

#define TRY(call)                                                                                  \
    do {                                                                                           \
        errno = KEPT;                                                                              \
        long result = (long)(call);                                                                \
        int error = errno;                                                                         \
        say(#call, result, error);                                                                 \
    } while (0)
/* Of a call without a result, or with one that differs between runs. */
#define KEEP(call)                                                                                 \
    do {                                                                                           \
        errno = KEPT;                                                                              \
        (void)(call);                                                                              \
        int error = errno;                                                                         \
        say(#call, 0, error);                                                                      \
    } while (0)

static void files(void)
{
    struct stat is;
    TRY(open("no/such", O_RDONLY));
    TRY(open("no/such", O_RDWR));
    TRY(open("errors.file", O_WRONLY | O_CREAT | O_EXCL, 0600));
    TRY(open("errors.file", O_WRONLY | O_CREAT | O_EXCL, 0600));
    TRY(open64("errors.file", O_RDWR | O_CREAT | O_EXCL, 0600));
    TRY(openat(AT_FDCWD, "no/such", O_WRONLY));
    TRY(openat(NEVER, "such", O_WRONLY));
    TRY(open("/", O_WRONLY));
    TRY(creat("no/such", 0600));
    TRY(fopen("no/such", "r"));
    TRY(fopen("no/such", "w"));
    TRY(fopen("errors.file", "wx"));
    TRY(fdopen(NEVER, "w"));
    TRY(opendir("no/such"));
    TRY(mkdir(".", 0700));
    TRY(rmdir("no/such"));
    TRY(unlink("no/such"));
    TRY(remove("no/such"));
    TRY(rename("no/such", "other"));
    TRY(link("no/such", "other"));
    TRY(symlink("a", "errors.file"));
    TRY(readlink("errors.file", text, sizeof text));
    TRY(truncate("no/such", 0));
    TRY(ftruncate(NEVER, 0));
    TRY(stat("no/such", &is));
    TRY(lstat("no/such", &is));
    TRY(fstat(NEVER, &is));
    TRY(access("no/such", R_OK));
    TRY(chmod("no/such", 0600));
    TRY(chdir("no/such"));
    TRY(lseek(NEVER, 0, SEEK_SET));
    TRY(fsync(NEVER));
    TRY(getcwd(text, 1));
    TRY(unlink("errors.file"));
}

static void descriptors(void)
{
    struct iovec part = {text, 1};
    struct pollfd none = {.fd = NEVER, .events = POLLIN};
    struct epoll_event event = {.events = EPOLLIN};
    fd_set set;
    FD_ZERO(&set);
    TRY(close(NEVER));
    TRY(dup(NEVER));
    TRY(dup2(NEVER, NEVER + 1));
    TRY(dup3(0, 0, 0));
    TRY(fcntl(NEVER, F_GETFL));
    TRY(ioctl(NEVER, FIONREAD, text));
    TRY(read(NEVER, text, 1));
    TRY(write(NEVER, text, 1));
    TRY(pread(NEVER, text, 1, 0));
    TRY(pwrite(NEVER, text, 1, 0));
    TRY(readv(NEVER, &part, 1));
    TRY(writev(NEVER, &part, 1));
    TRY(sendfile(NEVER, NEVER, NULL, 1));
    TRY(poll(&none, 1, 0));
    TRY(select(-1, &set, NULL, NULL, NULL));
    TRY(epoll_create1(-1));
    TRY(epoll_ctl(NEVER, EPOLL_CTL_ADD, 0, &event));
    TRY(epoll_wait(NEVER, &event, 1, 0));
    TRY(eventfd(0, -1));
    TRY(timerfd_create(-1, 0));
    TRY(pipe2((int[2]){0, 0}, -1));
    TRY(socket(-1, SOCK_STREAM, 0));
    TRY(socketpair(AF_INET, SOCK_STREAM, 0, (int[2]){0, 0}));
    TRY(accept(NEVER, NULL, NULL));
    TRY(bind(NEVER, NULL, 0));
    TRY(listen(NEVER, 1));
    TRY(connect(NEVER, NULL, 0));
    TRY(send(NEVER, text, 1, 0));
    TRY(recv(NEVER, text, 1, 0));
    TRY(shutdown(NEVER, SHUT_RD));
    TRY(getsockname(NEVER, NULL, NULL));
}

static void others(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    char *end;
    TRY(sem_trywait(&semaphore));
    TRY(sem_timedwait(&semaphore, &(struct timespec){.tv_nsec = 1}));
    TRY(sem_open("/no-such-semaphore", 0));
    TRY(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    TRY(munmap((void *)1, 1));
    TRY(malloc(SIZE_MAX / 2));
    TRY(calloc(SIZE_MAX / 2, 3));
    TRY(realloc(NULL, SIZE_MAX / 2));
    TRY(aligned_alloc(64, SIZE_MAX / 2));
    TRY(nanosleep(&(struct timespec){.tv_nsec = -1}, NULL));
    TRY(clock_gettime(-77, &(struct timespec){0}));
    TRY(timer_create(-77, NULL, &(timer_t){0}));
    TRY(setitimer(-1, NULL, NULL));
    TRY(kill(getpid(), -1));
    TRY(sigaction(SIGKILL, &(struct sigaction){.sa_handler = SIG_IGN}, NULL));
    TRY(waitpid(-1, NULL, 0));
    TRY(execl("no/such", "no/such", NULL));
    TRY(getrlimit(-1, &(struct rlimit){0}));
    TRY(strtol("99999999999999999999", &end, 10) == LONG_MAX);
    TRY(strtoul("12", &end, 10));
    TRY(strtod("1e999", &end) > 1);
    TRY(iconv_open("no", "such") == (iconv_t)-1);
    TRY(mkstemp(text));
    KEEP(free(malloc(100)));
    KEEP(pthread_mutex_lock(&mutex));
    KEEP(pthread_mutex_trylock(&mutex));
    KEEP(pthread_mutex_unlock(&mutex));
    KEEP(sched_yield());
    KEEP(getenv("NO_SUCH"));
    KEEP(time(NULL));
    KEEP(snprintf(text, sizeof text, "%d", 5));
    KEEP(usleep(1));
    sem_destroy(&semaphore);
}

/* Waits until an end that is none: its nanoseconds, or its clock. */
static void ends(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER,
                           checks = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    const struct timespec below = {.tv_sec = 1, .tv_nsec = -1}, above = {1, 1000000000},
                          over = {-1, 0};
    sem_t semaphore;
    mtx_t other;
    sem_init(&semaphore, 0, 9);
    mtx_init(&other, mtx_timed);
    pthread_mutex_lock(&checks);
    TRY(pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &over)); /* it is free */
    TRY(pthread_mutex_timedlock(&mutex, &below));                          /* and is taken */
    TRY(pthread_mutex_timedlock(&mutex, &below));
    TRY(pthread_mutex_timedlock(&mutex, &above));
    TRY(pthread_mutex_timedlock(&mutex, &over));
    TRY(pthread_mutex_timedlock(&checks, &below));
    TRY(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &above));
    TRY(pthread_cond_timedwait(&cond, &mutex, &below));
    TRY(pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &above));
    TRY(pthread_cond_clockwait(&cond, &mutex, CLOCK_PROCESS_CPUTIME_ID, &over));
    TRY(pthread_rwlock_timedrdlock(&lock, &below));
    TRY(pthread_rwlock_clockwrlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &over));
    TRY(pthread_rwlock_timedwrlock(&lock, &over));
    TRY(pthread_rwlock_timedwrlock(&lock, &above));
    TRY(sem_timedwait(&semaphore, &below));
    TRY(sem_timedwait(&semaphore, &over));
    TRY(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &above));
    TRY(sem_clockwait(&semaphore, CLOCK_PROCESS_CPUTIME_ID, &over));
    TRY(mtx_timedlock(&other, &above));
    TRY(mtx_timedlock(&other, &above));
    TRY(cnd_timedwait((cnd_t *)&cond, &other, &below));
}

static void *takes(void *mutex)
{
    pthread_mutex_lock(mutex);
    return NULL;
}

/* A robust mutex whose owner has died, and that was released as it was found. */
static void lost(void)
{
    static pthread_mutex_t mutex;
    const struct timespec later = {.tv_sec = 1};
    pthread_mutexattr_t robust;
    pthread_t owner;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &robust);
    pthread_create(&owner, NULL, takes, &mutex);
    pthread_join(owner, NULL);
    TRY(pthread_mutex_lock(&mutex));
    TRY(pthread_mutex_unlock(&mutex));
    TRY(pthread_mutex_lock(&mutex));
    TRY(pthread_mutex_unlock(&mutex));
    TRY(pthread_mutex_timedlock(&mutex, &later));
    TRY(pthread_mutex_lock(&mutex));
    TRY(pthread_mutex_destroy(&mutex));
}

static void *work(void *unused)
{
    others();
    ends();
    lost();
    return unused;
}

int main(void)
{
    pthread_t thread;
    files();
    descriptors();
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}
