/*
 * Functions of libc, each called by one thread while another thread touches the memory. CASE(name,
 * kind, length, prepare, call): the call accesses `length` bytes at p, and writes all of them (W),
 * reads all of them and writes none (R), or writes them and reads what is before them (E). Each case is tried with five objects, in which the other
 * thread writes the first byte again, the last, the one before, the one behind, or reads the first.
 * With an argument the program says which of the objects have a race. Nothing is locked, so who
 * comes first does not matter. Read by check_libc.sh.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <crypt.h>
#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <iconv.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <obstack.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <search.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

enum { AT = 256 };

typedef struct object {
    char at[2048];
} object;

extern void *__memcpy_chk(void *, const void *, size_t, size_t);
extern char *__strcpy_chk(char *, const char *, size_t);
extern char *__strcat_chk(char *, const char *, size_t);
extern int __sprintf_chk(char *, int, size_t, const char *, ...);
extern int __snprintf_chk(char *, size_t, int, size_t, const char *, ...);
extern int __printf_chk(int, const char *, ...);
extern int __isoc99_sscanf(const char *, const char *, ...);

static char other[4096]; /* of the thread that calls */
static FILE *nowhere;    /* a stream */
static FILE *lines;
static struct crypt_data secret;
static int data[2]; /* a pipe that is never empty */
static int ends[2]; /* two sockets */

static int print_list(char *to, size_t room, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = vsnprintf(to, room, format, arguments);
    va_end(arguments);
    return result;
}

static int scan_list(const char *from, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = vsscanf(from, format, arguments);
    va_end(arguments);
    return result;
}

static int compare_ints(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static void numbers(char *p)
{
    const int some[4] = {3, 1, 4, 2};
    memcpy(p, some, sizeof some);
}

static void *give_chunk(long bytes)
{
    return malloc((size_t)bytes);
}

static struct obstack *begin_stack(void *at)
{
    _obstack_begin(at, 0, 0, give_chunk, free);
    return at;
}

static size_t parts_of(char *p, char *from, size_t bytes)
{
    struct iovec *parts = (struct iovec *)(void *)p;
    parts[0] = (struct iovec){from, bytes};
    return 1;
}

static void ask_about_shared_memory(struct shmid_ds *to)
{
    int number = shmget(IPC_PRIVATE, 4096, 0600);
    shmctl(number, IPC_STAT, to);
    shmctl(number, IPC_RMID, NULL);
}

static volatile unsigned long used;

/* A call whose result nobody wants is left out by compilers. */
#define use(call) (used = (unsigned long)(call))
#define CONVERT(from, bytes, to, room)                                                             \
    do {                                                                                           \
        iconv_t conversion = iconv_open("UTF-16LE", "ISO-8859-1");                                 \
        iconv(conversion, &(char *){from}, &(size_t){bytes}, &(char *){to}, &(size_t){room});      \
        iconv_close(conversion);                                                                   \
    } while (0)
#define WIDE(text) wcscpy((wchar_t *)(void *)p, text)
#define AS(type)   ((type *)(void *)p)

#define CASE(name, kind, length, prepare, call)                                                    \
    static object name##_first, name##_last, name##_before, name##_behind, name##_read;            \
    static void prepare_##name(char *p)                                                            \
    {                                                                                              \
        (void)p;                                                                                   \
        prepare;                                                                                   \
    }                                                                                              \
    static void call_##name(char *p)                                                               \
    {                                                                                              \
        (void)p;                                                                                   \
        call;                                                                                      \
    }
#include "accesses.def"
#undef CASE

typedef struct trial {
    const char *name;
    char kind;
    size_t length;
    void (*prepare)(char *p);
    void (*call)(char *p);
    object *first, *last, *before, *behind, *read;
} trial;

static const trial trials[] = {
#define CASE(name, kind, length, prepare, call)                                                    \
    {#name,         #kind[0],     length,         prepare_##name, call_##name,                     \
     &name##_first, &name##_last, &name##_before, &name##_behind, &name##_read},
#include "accesses.def"
#undef CASE
};

enum { COUNT = sizeof trials / sizeof *trials };

static void *call_all(void *unused)
{
    for (int i = 0; i < COUNT; i++) {
        const trial *t = &trials[i];
        t->call(t->first->at + AT);
        t->call(t->last->at + AT);
        t->call(t->before->at + AT);
        t->call(t->behind->at + AT);
        t->call(t->read->at + AT);
    }
    return unused;
}

static void *touch_all(void *unused)
{
    for (int i = 0; i < COUNT; i++) {
        const trial *t = &trials[i];
        volatile char *first = &t->first->at[AT];
        volatile char *last = &t->last->at[AT + t->length - 1];
        volatile char *before = &t->before->at[AT - 1];
        volatile char *behind = &t->behind->at[AT + t->length];
        const volatile char *read = &t->read->at[AT];
        *first = *first;
        *last = *last;
        *before = *before;
        *behind = *behind;
        (void)*read;
    }
    return unused;
}

static void prepare_all(void)
{
    nowhere = fopen("/dev/null", "w");
    lines = fopen("/proc/self/status", "r");
    if (pipe(data) != 0 || socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) {
        exit(2);
    }
    memset(other, 'a', 300);
    for (int i = 0; i < COUNT; i++) {
        const trial *t = &trials[i];
        object *const objects[] = {t->first, t->last, t->before, t->behind, t->read};
        for (int k = 0; k < 5; k++) {
            t->prepare(objects[k]->at + AT);
        }
        if (write(data[1], other, 40) != 40) {
            exit(2);
        }
    }
}

int main(int count, char **arguments)
{
    (void)arguments;
    if (count > 1) {
        for (int i = 0; i < COUNT; i++) {
            printf("%s_first\n%s_last\n", trials[i].name, trials[i].name);
            if (trials[i].kind != 'R') {
                printf("%s_read\n", trials[i].name);
            }
            if (trials[i].kind == 'E') {
                printf("%s_before\n", trials[i].name);
            }
        }
        return 0;
    }
    pthread_t one, two;
    prepare_all();
    pthread_create(&one, NULL, call_all, NULL);
    pthread_create(&two, NULL, touch_all, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
