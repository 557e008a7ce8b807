/* What functions of libc give, printed: the same whether the program is recorded or not. Read by
 * check_libc.sh. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <glob.h>
#include <grp.h>
#include <iconv.h>
#include <libgen.h>
#include <locale.h>
#include <math.h>
#include <netdb.h>
#include <obstack.h>
#include <pwd.h>
#include <regex.h>
#include <search.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

/* A number, a text (NULL: none), both with errno. */
#define N(...) (set_errno(), number(#__VA_ARGS__, (double)(__VA_ARGS__)))
#define T(...) (set_errno(), print_text(#__VA_ARGS__, (__VA_ARGS__)))

/* What libc writes to errno is not recorded. */
#define NOT_RECORDED __attribute__((no_sanitize_thread, noinline))

NOT_RECORDED static void set_errno(void)
{
    errno = 0;
}

NOT_RECORDED static int get_errno(void)
{
    return errno;
}

/* Nor is what it writes to a buffer that the program gave to a stream. */
NOT_RECORDED static void put_text(const char *from)
{
    for (; *from != '\0'; from++) {
        putchar(*from);
    }
    putchar('\n');
}

static char a[4096], b[4096];
static wchar_t w[256], v[256];

static void number(const char *what, double value)
{
    int error = get_errno();
    printf("%s = %.17g (%d)\n", what, value, error);
}

static void print_text(const char *what, const char *value)
{
    int error = get_errno();
    printf("%s = \"%s\" (%d)\n", what, value == NULL ? "NULL" : value, error);
}

typedef struct record {
    int key, number;
    char filler[40];
} record;

static int compare(const void *x, const void *y)
{
    return ((const record *)x)->key - ((const record *)y)->key;
}

static int compare_down(const void *x, const void *y, void *calls)
{
    ++*(int *)calls;
    return *(const unsigned char *)y - *(const unsigned char *)x;
}

static void sorted(void)
{
    static record records[1000];
    unsigned char bytes[] = "sorting of single bytes";
    int calls = 0;
    unsigned sum = 1;
    for (int i = 0; i < 1000; i++) {
        records[i] = (record){(i * 7919) % 97, i, ""};
    }
    qsort(records, 1000, sizeof *records, compare);
    for (int i = 0; i < 1000; i++) {
        sum = sum * 31 + (unsigned)records[i].number;
    }
    qsort_r(bytes, sizeof bytes - 1, 1, compare_down, &calls);
    printf("sorted %u %s %d\n", sum, bytes, calls);
    qsort(NULL, 0, 4, compare);
    const record *found = bsearch(&(record){.key = 5}, records, 1000, sizeof *records, compare);
    N(found->key);
}

static void texts(void)
{
    char *next = NULL;
    char *rest = strcpy(b, "a:b::c");
    T(strcpy(a, "text"));
    T(strcat(a, " and more"));
    T(strncat(a, "bcd", 2));
    N(stpcpy(b + 100, "four") - b);
    T(strtok(strcpy(b + 200, ",one,,two,"), ","));
    T(strtok(NULL, ","));
    T(strtok(NULL, ","));
    T(strtok(NULL, ","));
    T(strtok_r(strcpy(b + 300, "x y"), " ", &next));
    T(strtok_r(NULL, " ", &next));
    T(strtok_r(NULL, " ", &next));
    for (int i = 0; i < 5; i++) {
        T(strsep(&rest, ":"));
    }
    T(strdup("twin"));
    T(strndup("twins", 3));
    N(strspn("aabbc", "ab"));
    T(strpbrk("hello", "xyz"));
    T((char *)memmem("needle in hay", 13, "in", 2));
    T((char *)memrchr("hello", 'l', 5));
    T((char *)memccpy(a, "abcd", 'z', 3));
    N(strcmp("a", "b") < 0);
    N(strcasecmp("ABC", "abc"));
    N(strncasecmp("ABx", "aby", 2));
    N(strverscmp("a9", "a10") < 0);
    T(dirname(strcpy(a, "/usr/lib/")));
    T(basename(strcpy(a, "/usr/lib/")));
    T(dirname(strcpy(a, "plain")));
    T(strerror_r(9999, a, 5));
    T(strerror_r(2, a, 100));
    N(strxfrm(a, "abc", 2));
}

static void converted(void)
{
    char *end = NULL;
    N(strtol("  -12x", &end, 10));
    T(end);
    N(strtol("zz", &end, 10));
    T(end);
    N(strtol("99999999999999999999", &end, 10));
    end = a;
    N(strtol("5", &end, 99));
    N(end == a);
    N(strtoul("0x1F", NULL, 0));
    N(strtod("1e400", &end));
    N(strtof("0x1.8p1z", &end));
    T(end);
    N((double)strtold("2.5", NULL));
    N(atoi("  42 "));
    N(atof("-1.25e2x"));
    N(wcstol(L"77w", NULL, 8));
}

static int list(char *to, size_t room, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = vsnprintf(to, room, format, arguments);
    va_end(arguments);
    return result;
}

static void formats(void)
{
    int n = 7, m = 8;
    short s = 1;
    double d = 0;
    char *block = NULL;
    FILE *file;
    size_t bytes = 0;
    N(sprintf(a, "%5d|%-5s|%n%c %%", 42, "ab", &n, 'x'));
    T(a);
    N(n);
    N(snprintf(a, 4, "%s", "abcdef"));
    T(a);
    N(snprintf(NULL, 0, "%s", "abcdef"));
    N(snprintf(a, 100, "%3$s %1$d %2$.2f", 5, 2.5, "third"));
    T(a);
    N(snprintf(a, 100, "%.*s|%*d|%hn", 2, "abcdef", 6, 7, &s));
    T(a);
    N(s);
    N(snprintf(a, 100, "%Lf %lld %zu %hhu %ls %lc %a %p %m", 1.5L, 5ll, (size_t)9, 300, L"wide",
               L'x', 1.0, NULL));
    T(a);
    N(snprintf(a, 100, "%s %.3s", (char *)NULL, "abcdef"));
    T(a);
    N(list(a, 100, "%d %s", 1, "listed"));
    T(a);
    N(asprintf(&block, "%d-%d", 1, 2));
    T(block);
    N(sscanf("12 0x1f 3.5 word [abc] xy", "%d %i %lf %3s%*s [%[a-c]] %2c", &n, &m, &d, a, a + 50,
             a + 90));
    N(n + m + d);
    T(a);
    T(a + 50);
    N(sscanf("7,8", "%d;%d", &n, &m));
    N(sscanf("", "%d", &n));
    N(sscanf("5 rest", "%d %n", &n, &m));
    N(m);
    N(sscanf("block", "%ms", &block));
    T(block);
    N(swprintf(w, 50, L"%d %s %ls", 5, "narrow", L"wide"));
    N(wcslen(w));
    N(swscanf(L"9 w", L"%d %ls", &n, v));
    file = open_memstream(&block, &bytes);
    N(fprintf(file, "in %s", "memory"));
    N(fflush(file));
    T(block);
    N(fputs("!", file));
    N(fclose(file));
    T(block);
    N((double)bytes);
}

static void streams(void)
{
    char *line = NULL;
    size_t room = 0;
    char path[] = "results-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w+");
    fpos_t at;
    N(fwrite("one\ntwo\nthree", 1, 13, file));
    rewind(file);
    T(fgets(a, 3, file));
    N(fgetpos(file, &at));
    N((double)getline(&line, &room, file));
    N((double)getdelim(&line, &room, 'w', file));
    T(line);
    N(fsetpos(file, &at));
    N(fread(b, 2, 3, file));
    T(b);
    N(fseek(file, -1, SEEK_END));
    T(fgets(a, 10, file));
    T(fgets(a, 10, file));
    flockfile(file);
    N(ftrylockfile(file));
    funlockfile(file);
    N(fputs("x", file));
    funlockfile(file);
    N(fclose(file));
    N(fopen("/nonexistent/file", "r") == NULL);
    unlink(path);
    file = fmemopen(a, 10, "w");
    N(fputs("memory", file));
    N(fclose(file));
    put_text(a);
    N(puts("a line"));
}

static void wide(void)
{
    const char *from = "text";
    const wchar_t *wfrom = L"wide";
    mbstate_t state = {0};
    N(mbstowcs(w, "abc", 256));
    N(wcstombs(a, L"abc", 2));
    N(mbsrtowcs(w, &from, 256, &state));
    N(from == NULL);
    N(wcsrtombs(a, &wfrom, 2, &state));
    N(*wfrom);
    N(mbrtowc(w, "x", 1, NULL));
    N(wcrtomb(a, L'y', NULL));
    N(wcrtomb(a, 0x20ac, NULL));
    N(wcscmp(wcscat(wcscpy(v, L"ab"), L"cd"), L"abcd"));
    N(wcsncmp(L"abc", L"abd", 2));
    N(wcsstr(L"hello", L"lo") != NULL);
    N(wmemcmp(L"abc", L"abd", 3) < 0);
}

static void times_and_numbers(void)
{
    time_t when = 86400 * 365;
    struct tm tm;
    int sign;
    double part, sine, cosine;
    T(asctime(gmtime(&when)));
    T(asctime_r(gmtime_r(&when, &tm), a));
    N(strftime(a, 100, "%Y-%m-%d", &tm));
    T(a);
    N(strptime("2001-02-03", "%Y-%m-%d", &tm) != NULL);
    N(tm.tm_mon);
    N((double)timegm(&tm));
    N(frexp(12.5, &sign));
    N(sign);
    N(modf(-2.25, &part));
    N(part);
    N(remquo(7.5, 2, &sign));
    N(lgamma(-0.5));
    N(signgam);
    N(lgamma_r(3.5, &sign));
    sincos(1.0, &sine, &cosine);
    N(sine + cosine);
    T(getenv("RESULTS_MISSING"));
    N(setenv("RESULTS", "here", 1));
    T(getenv("RESULTS"));
    N(putenv("RESULTS=there"));
    T(getenv("RESULTS"));
    N(unsetenv("RESULTS"));
    T(getenv("RESULTS"));
    T(setlocale(LC_ALL, "C"));
    T(setlocale(LC_ALL, "no_such"));
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void files(void)
{
    struct stat is;
    struct dirent **entries;
    glob_t paths;
    regex_t expression;
    regmatch_t matches[2];
    sigset_t set;
    N(stat("/", &is));
    N(S_ISDIR(is.st_mode));
    N(stat("/nonexistent", &is));
    N(stat(NULL, &is));
    N(access("/", R_OK));
    T(realpath("/usr/../dev/./null", a));
    T(realpath("/usr/..", NULL));
    T(realpath("/nonexistent/x", NULL));
    N(chdir("/"));
    T(getcwd(a, 100));
    T(getcwd(a, 1));
    N(readlink("/", a, 10));
    N(scandir("/proc/self", &entries, not_hidden, alphasort) > 20);
    T(entries[0]->d_name);
    N(glob("/[d]ev/nul*", 0, NULL, &paths));
    T(paths.gl_pathv[0]);
    N(regcomp(&expression, "b(c+)", REG_EXTENDED));
    N(regexec(&expression, "abccd", 2, matches, 0));
    N(matches[1].rm_eo);
    regfree(&expression);
    N(sigemptyset(&set));
    N(sigaddset(&set, SIGUSR1));
    N(sigismember(&set, SIGUSR1));
    N(sigaddset(&set, 1000));
    T(getpwuid(0)->pw_name);
    T(getgrgid(0)->gr_name);
}

static void net(void)
{
    struct in_addr address;
    struct addrinfo *found = NULL;
    int ends[2];
    struct sockaddr_storage name;
    socklen_t length = sizeof name;
    N(inet_pton(AF_INET, "1.2.3.4", &address));
    T(inet_ntop(AF_INET, &address, a, 100));
    N(inet_pton(AF_INET, "nonsense", &address));
    N(getaddrinfo("127.0.0.1", "80", NULL, &found));
    N(found->ai_family);
    N(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
    N(send(ends[0], "message", 7, 0));
    N((double)recvfrom(ends[1], a, 100, 0, (struct sockaddr *)&name, &length));
    N(length);
    N((double)sendmsg(
        ends[0], &(struct msghdr){.msg_iov = &(struct iovec){"parts", 5}, .msg_iovlen = 1}, 0));
    N((double)recvmsg(ends[1], &(struct msghdr){.msg_iov = &(struct iovec){a, 3}, .msg_iovlen = 1},
                      0));
    length = sizeof name;
    N(getsockname(ends[0], (struct sockaddr *)&name, &length));
    N(length);
    N((double)write(1, NULL, 0));
}

static void transcoded(void)
{
    char *from = "caf\xe9";
    char *to = a;
    size_t bytes = 4, room = 100;
    iconv_t conversion = iconv_open("UTF-8", "ISO-8859-1");
    memset(a, 0, 100);
    N(iconv(conversion, &from, &bytes, &to, &room));
    T(a);
    N((double)room);
    N(iconv(conversion, NULL, NULL, &to, &room));
    from = "abc", bytes = 3, room = 2, to = a;
    N(iconv(conversion, &from, &bytes, &to, &room));
    N((double)bytes);
    N(iconv_close(conversion));
}

#define obstack_chunk_alloc malloc
#define obstack_chunk_free  free

static int compare_letters(const void *one, const void *two)
{
    return *(const char *)one - *(const char *)two;
}

static int compare_files(const FTSENT **one, const FTSENT **two)
{
    return strcmp((*one)->fts_name, (*two)->fts_name);
}

/* Trees, objects that grow over chunks, walks over folders. */
static void collections(void)
{
    static char letters[] = "maxrace";
    void *root = NULL;
    struct obstack stack;
    for (int i = 0; letters[i] != '\0'; i++) {
        N(**(char **)tsearch(&letters[i], &root, compare_letters));
    }
    N(tfind("q", &root, compare_letters) == NULL);
    N(**(char **)tfind("x", &root, compare_letters));
    N(tdelete("x", &root, compare_letters) != NULL);
    N(tfind("x", &root, compare_letters) == NULL);
    for (int i = 0; root != NULL; i++) {
        tdelete(&letters[i], &root, compare_letters); /* what is in a node may have moved */
    }
    obstack_init(&stack);
    T(obstack_copy0(&stack, "kept", 4));
    for (int i = 0; i < 3000; i++) {
        obstack_grow(&stack, "0123456789", 10);
    }
    N(obstack_object_size(&stack));
    char *grown = obstack_finish(&stack);
    N(grown[29999]);
    N(strncmp(grown, grown + 20000, 10000));
    obstack_free(&stack, grown);
    N(obstack_object_size(&stack));
    obstack_free(&stack, NULL);
}

static void walks(void)
{
    char *const paths[] = {"walk", NULL};
    N(mkdir("walk", 0700));
    N(mkdir("walk/inner", 0700));
    N(symlink("nowhere", "walk/inner/link"));
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, compare_files);
    for (FTSENT *entry = fts_read(walk); entry != NULL; entry = fts_read(walk)) {
        T(entry->fts_path);
        T(entry->fts_name);
        N(entry->fts_info);
        N(entry->fts_level);
        N(S_ISDIR(entry->fts_statp->st_mode));
        for (FTSENT *child = fts_children(walk, 0); child != NULL; child = child->fts_link) {
            T(child->fts_name);
        }
    }
    N(fts_close(walk));
    N(unlink("walk/inner/link") | rmdir("walk/inner") | rmdir("walk"));
}

static void requests(void)
{
    int ends[2], count = 0;
    N(pipe(ends));
    N(write(ends[1], "four", 4));
    N(ioctl(ends[0], FIONREAD, &count));
    N(count);
    N(ioctl(ends[0], TIOCGWINSZ, a));
    N(prctl(PR_SET_NAME, "results"));
    N(prctl(PR_GET_NAME, a));
    T(a);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    texts();
    converted();
    sorted();
    formats();
    streams();
    wide();
    times_and_numbers();
    files();
    net();
    transcoded();
    collections();
    walks();
    requests();
    return 0;
}
