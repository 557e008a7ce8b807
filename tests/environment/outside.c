/* Two threads ask for what comes from outside, in every way that is fed again; prints what they got. The program is
 * outside FILE LINES: it reads FILE by several functions, and standard input. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static const char *path;
static char said[2][4096]; /* by each thread */
static int ends[2];        /* from the second thread to the first */
static int set;            /* with its end for reading */

__attribute__((format(printf, 2, 3))) static void say(int who, const char *format, ...)
{
    va_list arguments;
    size_t length = strlen(said[who]);
    va_start(arguments, format);
    vsnprintf(said[who] + length, sizeof said[who] - length, format, arguments);
    va_end(arguments);
}

static void say_bytes(int who, const char *what, const void *bytes, ssize_t count)
{
    say(who, "%s %zd '", what, count);
    for (ssize_t i = 0; i < count; i++)
        say(who, "%02x", ((const unsigned char *)bytes)[i]);
    say(who, "'\n");
}

static void ask_file(int who)
{
    char text[64] = "", more[64] = "";
    struct stat is;
    struct iovec parts[2] = {{text, 3}, {more, 5}};
    int fd = open(path, O_RDONLY);
    say(who, "open %d\n", fd);
    say_bytes(who, "read", text, read(fd, text, 10));
    say_bytes(who, "pread", text, pread(fd, text, 4, 2));
    ssize_t got = readv(fd, parts, 2);
    say(who, "readv %zd %.3s %.5s\n", got, text, more);
    say(who, "lseek %ld\n", (long)lseek(fd, 0, SEEK_END));
    if (fstat(fd, &is) == 0)
        say(who, "fstat %ld %ld\n", (long)is.st_size, (long)is.st_mtime);
    close(fd);
    say(who, "stat %d %ld\n", stat(path, &is), (long)is.st_size);
    say(who, "access %d %d\n", access("nowhere/at/all", R_OK), errno);
    say(who, "open %d %d\n", open("nowhere/at/all", O_RDONLY), errno);
}

static void ask_stream(int who)
{
    char line[64] = "", rest[16] = "";
    int number = 0;
    FILE *file = fopen(path, "r");
    if (!file) {
        say(who, "no stream\n");
        return;
    }
    say(who, "fgets %s", fgets(line, sizeof line, file) ? line : "none\n");
    say(who, "fscanf %d", fscanf(file, "%d", &number));
    say(who, " %d\n", number);
    say(who, "getc %d\n", getc(file));
    size_t count = fread(rest, 1, sizeof rest - 1, file);
    say(who, "fread %zu %s\n", count, rest);
    fseek(file, 0, SEEK_END);
    say(who, "ftell %ld\n", ftell(file));
    fclose(file);
}

static void ask_system(int who)
{
    unsigned char bytes[8] = {0};
    struct timespec now = {0, 0};
    struct timeval day = {0, 0};
    say_bytes(who, "getrandom", bytes, getrandom(bytes, sizeof bytes, 0));
    int fd = open("/dev/urandom", O_RDONLY);
    say_bytes(who, "urandom", bytes, read(fd, bytes, sizeof bytes));
    close(fd);
    say(who, "pid %d %d %d %ld\n", getpid(), getppid(), gettid(), syscall(SYS_getpid));
    clock_gettime(CLOCK_REALTIME, &now);
    say(who, "clock %ld.%09ld\n", now.tv_sec, now.tv_nsec);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    say(who, "processor %ld.%09ld\n", now.tv_sec, now.tv_nsec);
    gettimeofday(&day, NULL);
    say(who, "day %ld.%06ld %ld\n", day.tv_sec, day.tv_usec, (long)time(NULL));
}

static void ask_input(int who)
{
    char line[64] = "", word[16] = "", all[64] = "";
    struct pollfd wait = {.fd = 0, .events = POLLIN};
    fd_set readable;
    FD_ZERO(&readable);
    FD_SET(0, &readable);
    struct timeval second = {1, 0};
    int ready = poll(&wait, 1, 1000);
    say(who, "poll %d %d\n", ready, wait.revents);
    ready = select(1, &readable, NULL, NULL, &second);
    say(who, "select %d %d\n", ready, FD_ISSET(0, &readable) != 0);
    say(who, "fgets %s", fgets(line, sizeof line, stdin) ? line : "none\n");
    say(who, "scanf %d", scanf("%15s", word));
    say(who, " %s\n", word);
    say(who, "getchar %d\n", getchar());
    size_t count = fread(all, 1, 20, stdin);
    say(who, "fread %zu\n", count);
    say(who, "eof %d\n", fread(all, 1, sizeof all, stdin) < sizeof all);
}

/* One thread at a time opens files: a descriptor's number depends on what the others have open, and they need not take turns
 * as before when the inputs are given again. */
static void alone(void (*ask)(int), int who)
{
    static pthread_mutex_t opens = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&opens);
    ask(who);
    pthread_mutex_unlock(&opens);
}

static void *first(void *unused)
{
    char text[16] = "";
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 7};
    epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event);
    alone(ask_file, 0);
    alone(ask_system, 0);
    say(0, "epoll %d", epoll_wait(set, &event, 1, -1));
    say(0, " %d\n", (int)event.data.u64);
    say_bytes(0, "pipe", text, read(ends[0], text, sizeof text));
    alone(ask_stream, 0);
    return unused;
}

static void *second(void *unused)
{
    alone(ask_stream, 1);
    alone(ask_system, 1);
    if (write(ends[1], "inside", 6) != 6)
        abort();
    ask_input(1);
    alone(ask_file, 1);
    return unused;
}

int main(int count, char **arguments)
{
    pthread_t threads[2];
    path = count > 1 ? arguments[1] : "/dev/null";
    set = epoll_create1(0);
    if (set < 0 || pipe(ends) != 0)
        return 1;
    say(0, "descriptors %d %d\n", ends[0], ends[1]);
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("%s%s", said[0], said[1]);
}
