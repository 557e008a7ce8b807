/* The library of recorded programs: what its log says, however the program ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/log_reader.h"
#include "support/run.h"
#include "support/story.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char source[] =
    "#include <pthread.h>\n"
    "#include <semaphore.h>\n"
    "#include <setjmp.h>\n"
    "#include <signal.h>\n"
    "#include <stdlib.h>\n"
    "#include <string.h>\n"
    "#include <sys/auxv.h>\n"
    "#include <sys/mman.h>\n"
    "#include <unistd.h>\n"
    "typedef struct pair { long low, high; char tail[13]; } pair;\n"
    "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n"
    "static pthread_rwlock_t gate = PTHREAD_RWLOCK_INITIALIZER;\n"
    "static int counter, seen, rounds = 30;\n"
    "static volatile int mark, two_threads = 2;\n"
    "static pair one, two;\n"
    "static long many[512], free_for_all, far[2][16384]; /* the same places in a table of the log "
    "*/\n"
    "static sigjmp_buf again;\n"
    "static void nothing(void) { }\n"
    "static void jump(int number) { siglongjmp(again, number); }\n"
    "/* Every other write faults, and has no record, nor has its distance from the last. */\n"
    "static long fault(void)\n"
    "{\n"
    "    char *pages = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n"
    "    mprotect(pages + 4096, 4096, PROT_NONE);\n"
    "    signal(SIGSEGV, jump);\n"
    "    for (volatile int i = 1; i < 6; i++)\n"
    "        if (!sigsetjmp(again, 1))\n"
    "            *(volatile long *)(pages + i % 2 * 4096) = i;\n"
    "    return *(long *)pages;\n"
    "}\n"
    "static void (*volatile call)(void) = nothing;\n"
    "/* Each waits for its turn in a loop. */\n"
    "static void *take_turns(void *argument)\n"
    "{\n"
    "    static volatile int turn;\n"
    "    for (int i = 0; i < rounds; i++) {\n"
    "        while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) % 2 != (long)argument);\n"
    "        __atomic_add_fetch(&turn, 1, __ATOMIC_SEQ_CST);\n"
    "    }\n"
    "    return argument;\n"
    "}\n"
    "static void *work(void *argument)\n"
    "{\n"
    "    char *block = malloc(64);\n"
    "    for (int i = 0; i < rounds; i++) {\n"
    "        pthread_mutex_lock(&lock);\n"
    "        counter++;\n"
    "        one.low = (long)counter << 40 | i;\n"
    "        pair copy = one; /* a range is read directly after a write */\n"
    "        seen += copy.tail[i % 13] == i;\n"
    "        one.tail[i % 13] = (char)i;\n"
    "        two = one;\n"
    "        memcpy(block, &two, sizeof two);\n"
    "        pthread_mutex_unlock(&lock);\n"
    "        pthread_rwlock_rdlock(&gate);\n"
    "        seen += many[i % 512] == -i;\n"
    "        call();\n"
    "        pthread_rwlock_unlock(&gate);\n"
    "        pthread_rwlock_wrlock(&gate);\n"
    "        many[i % 512] = many[(i + 7) % 512] + (long)argument + block[i % 40];\n"
    "        pthread_rwlock_unlock(&gate);\n"
    "        free_for_all += i;\n"
    "    }\n"
    "    free(block);\n"
    "    return argument;\n"
    "}\n"
    "/* Signals to a thread that sleeps, or is in the handler, where it blocks them. */\n"
    "static void handle(int number) { seen += number; usleep(1); seen -= number; }\n"
    "static void *sleep_on(void *argument)\n"
    "{\n"
    "    while (!mark) usleep(100);\n"
    "    return argument;\n"
    "}\n"
    "static int send_signals(void)\n"
    "{\n"
    "    pthread_t thread;\n"
    "    signal(SIGUSR1, handle);\n"
    "    pthread_create(&thread, 0, sleep_on, 0);\n"
    "    for (int i = 0; i < rounds; i++)\n"
    "        pthread_kill(thread, SIGUSR1);\n"
    "    mark = 1;\n"
    "    return pthread_join(thread, 0) ? 4 : 3;\n"
    "}\n"
    "int main(int count, char **words)\n"
    "{\n"
    "    pthread_t *threads = (pthread_t *)far[0];\n"
    "    const char *end = count > 1 ? words[1] : \"\";\n"
    "    if (!strcmp(end, \"secure\"))\n"
    "        return getauxval(AT_SECURE) ? 9 : 10;\n"
    "    if (count > 2)\n"
    "        rounds = atoi(words[2]);\n"
    "    if (!strcmp(end, \"signals\"))\n"
    "        return send_signals();\n"
    "    for (long i = 0; i < two_threads; i++) {\n"
    "        far[1][i] = i + 70;\n"
    "        pthread_create(&threads[i], 0, strcmp(end, \"turns\") ? work : take_turns, (void "
    "*)i);\n"
    "        if (far[1][i] != i + 70)\n"
    "            return 5;\n"
    "        far[1][9] = i + 80;\n"
    "        if (far[0][9] != i)\n"
    "            return 6;\n"
    "        far[0][9]++;\n"
    "    }\n"
    "    for (int i = 0; i < 2; i++)\n"
    "        pthread_join(threads[i], 0);\n"
    "    int traps = !strcmp(end, \"trap\");\n"
    "    if (!strcmp(end, \"fault\") && fault() != 4)\n"
    "        return 7;\n"
    "    for (int i = 8; i < 10; i++) {\n"
    "        mark = 123456780 + i;\n"
    "        if (traps && i == 9)\n"
    "            __builtin_trap();\n"
    "    }\n"
    "    if (!strcmp(end, \"turns\")) return 3;\n"
    "    if (!strcmp(end, \"abort\")) abort();\n"
    "    if (!strcmp(end, \"_exit\")) _exit(7);\n"
    "    if (!strcmp(end, \"kill\")) kill(getpid(), SIGKILL);\n"
    "    if (!strcmp(end, \"crash\")) *(volatile int *)8 = 1;\n"
    "    return counter == 2 * rounds ? 3 : 4;\n"
    "}\n";

static mr_scratch scratch;

/* How the program is to be run: NULL and 0 are as usual. */
typedef struct setup {
    const char *end, *rounds, *log, *seed, *max_events, *schedule;
    rlim_t file_bytes;
    rlim_t cpu_seconds;
    bool keep_log; /* what is at the path of the log stays there */
} setup;

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static _Noreturn void become_program(const setup *how)
{
    char program[512], error[512];
    struct rlimit limit = {how->file_bytes, how->file_bytes}, none = {0, 0},
                  time = {how->cpu_seconds ? how->cpu_seconds : 30, 40};
    int file = open(mr_scratch_path(&scratch, "error", error), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    dup2(file, 2);
    close(file);
    set(MR_LOG_ENV_FILE, how->log);
    set(MR_LOG_ENV_SEED, how->seed);
    set(MR_LOG_ENV_MAX_EVENTS, how->max_events);
    set(MR_LOG_ENV_SCHEDULE, how->schedule);
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &time);
    if (how->file_bytes)
        setrlimit(RLIMIT_FSIZE, &limit);
    personality(ADDR_NO_RANDOMIZE);
    execl(mr_scratch_path(&scratch, "program", program), "program", how->end ? how->end : "return",
          how->rounds, (char *)NULL);
    _exit(127);
}

/* Its exit status, or 1000 + signal. */
static int run(const setup *how)
{
    int status;
    if (how->log && !how->keep_log)
        unlink(how->log);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        become_program(how);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* What it said on standard error, owned by the caller. */
static char *said(void)
{
    char path[512];
    char *text = mr_file_text(mr_scratch_path(&scratch, "error", path));
    assert_non_null(text);
    return text;
}

static void test_exact(void **state)
{
    (void)state;
    static const char *const seeds[] = {"1", "2", "3", "4", "5"};
    char log[512];
    mr_scratch_path(&scratch, "log", log);
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        mr_story it;
        assert_int_equal(run(&(setup){.log = log, .seed = seeds[i], .rounds = "3000"}), 3);
        mr_story_read(&it, log);
        assert_int_equal(it.header.state, MR_LOG_EXITED);
        assert_int_equal(it.header.exit_status, 3);
        assert_int_equal(it.header.threads, 3);
        assert_true(it.marked && it.reads > 30000 && it.header.hand_overs > 10);
        /* Several windows. */
        assert_true(it.header.end > it.header.header_bytes + 2 * it.header.window_bytes);
    }
}

static char *log_bytes(const char *path, size_t *count)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *count = (size_t)ftell(file);
    char *bytes = malloc(*count);
    assert_non_null(bytes);
    rewind(file);
    assert_int_equal(fread(bytes, 1, *count, file), *count);
    fclose(file);
    return bytes;
}

/* The two logs have the same length, as their environments have. */
static bool same(const char *seed, const char *other_seed)
{
    char log[512];
    size_t counts[2];
    char *bytes[2];
    mr_scratch_path(&scratch, "log", log);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run(&(setup){.log = log, .seed = i ? other_seed : seed, .rounds = "200"}),
                         3);
        bytes[i] = log_bytes(log, &counts[i]);
    }
    bool is_same = counts[0] == counts[1] &&
                   memcmp(bytes[0] + MR_LOG_HEADER_BYTES, bytes[1] + MR_LOG_HEADER_BYTES,
                          counts[0] - MR_LOG_HEADER_BYTES) == 0;
    free(bytes[0]);
    free(bytes[1]);
    return is_same;
}

static void test_seeds(void **state)
{
    (void)state;
    assert_true(same("1", "1"));
    assert_true(same("7", "7"));
    assert_false(same("1", "7"));
}

static void test_ends(void **state)
{
    (void)state;
    static const struct {
        const char *end;
        int status;
        mr_log_state state;
    } rows[] = {
        {"return", 3, MR_LOG_EXITED},         {"_exit", 7, MR_LOG_EXITED},
        {"abort", 1000 + 6, MR_LOG_RUNNING},  {"kill", 1000 + 9, MR_LOG_RUNNING},
        {"crash", 1000 + 11, MR_LOG_RUNNING},
    };
    char log[512];
    mr_scratch_path(&scratch, "log", log);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mr_story it;
        assert_int_equal(run(&(setup){.log = log, .end = rows[i].end}), rows[i].status);
        mr_story_read(&it, log);
        assert_int_equal(it.header.state, rows[i].state);
        assert_true(it.marked && it.records > 1000);
        bool crashed = strcmp(rows[i].end, "crash") == 0;
        assert_int_equal(
            it.last[0] == mr_log_head(MR_LOG_WRITE, 2 | MR_LOG_NO_VALUE | MR_LOG_VOLATILE, 8) ||
                it.last[0] == mr_log_head(MR_LOG_WRITE, 2 | MR_LOG_NO_VALUE, 8),
            crashed);
    }
}

/* A write that faults, and whose handler goes on, has no record. */
static void test_fault(void **state)
{
    (void)state;
    char log[512];
    mr_story it;
    mr_scratch_path(&scratch, "log", log);
    assert_int_equal(run(&(setup){.log = log, .end = "fault"}), 3);
    mr_story_read(&it, log);
    assert_int_equal(it.header.state, MR_LOG_EXITED);
    assert_true(it.marked && it.unknown == 0);
}

/* The last write has happened, and nothing came after it that could tell its value. */
static void test_last_write(void **state)
{
    (void)state;
    char log[512];
    mr_story it;
    int status = run(&(setup){.log = mr_scratch_path(&scratch, "log", log), .end = "trap"});
    assert_true(status > 1000);
    mr_story_read(&it, log);
    assert_false(it.marked);
    assert_int_equal(mr_log_kind_of(it.last[0]), MR_LOG_WRITE);
    assert_true(mr_log_detail(it.last[0]) & MR_LOG_NO_VALUE);
    assert_int_equal(mr_log_bytes(it.last[0]), 4);
}

static void test_full(void **state)
{
    (void)state;
    /* Room for nothing, for one window, two, three: a sixth is for the log. */
    static const rlim_t limits[] = {4096, 3300000, 6450000, 9600000};
    char log[512];
    mr_scratch_path(&scratch, "log", log);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        mr_story it;
        assert_int_equal(run(&(setup){.log = log, .rounds = "12000", .file_bytes = limits[i]}), 3);
        char *text = said();
        assert_int_equal(strncmp(text, "maxrace: ", 9), 0);
        assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
        free(text);
        if (limits[i] > 4096) {
            mr_story_read(&it, log);
            assert_int_equal(it.header.state, MR_LOG_FULL);
            assert_true(it.header.error && it.records > 10000 && !it.marked);
        }
    }
}

static void test_limit(void **state)
{
    (void)state;
    char log[512];
    mr_story it;
    mr_scratch_path(&scratch, "log", log);
    assert_int_equal(run(&(setup){.log = log, .max_events = "500"}), 3);
    mr_story_read(&it, log);
    assert_int_equal(it.header.state, MR_LOG_LIMIT);
    assert_true(!it.marked && it.reads > 100 && it.reads <= 500);
}

/* Threads that wait for each other in loops, again and again, do not wait long, whoever has the
 * highest priority. */
static void test_turns(void **state)
{
    (void)state;
    static const char *const schedules[] = {"pct", "random"};
    char log[512];
    mr_scratch_path(&scratch, "log", log);
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {
        mr_story it;
        const setup how = {.log = log, .end = "turns", .rounds = "200", .schedule = schedules[i]};
        assert_int_equal(run(&how), 3);
        mr_story_read(&it, log);
        assert_int_equal(it.header.state, MR_LOG_EXITED);
        assert_in_range(it.records, 1000, 2000000);
    }
}

/* Who sends many signals does not wait for one that the thread blocks. */
static void test_signals(void **state)
{
    (void)state;
    char log[512];
    mr_story it;
    mr_scratch_path(&scratch, "log", log);
    assert_int_equal(
        run(&(setup){.log = log, .end = "signals", .rounds = "2000", .cpu_seconds = 2}), 3);
    mr_story_read(&it, log);
    assert_int_equal(it.header.state, MR_LOG_EXITED);
    assert_true(it.records > 4000);
}

static void test_unrecorded(void **state)
{
    (void)state;
    assert_int_equal(run(&(setup){.seed = "1", .rounds = "3000"}), 3);
    char *text = said();
    assert_string_equal(text, "");
    free(text);
}

/* What is at the path of the log stays as it is, and a link to nothing leads to no file. */
static void test_not_ours(void **state)
{
    (void)state;
    static const struct {
        mode_t type;
        const char *target; /* of a symbolic link */
    } rows[] = {{S_IFREG, NULL}, {S_IFIFO, NULL}, {S_IFLNK, "file"}, {S_IFLNK, "nothing"}};
    char log[512], file[512], nothing[512];
    mr_scratch_write(&scratch, "file", "", file);
    mr_scratch_path(&scratch, "log", log);
    mr_scratch_path(&scratch, "nothing", nothing);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stat info;
        unlink(log);
        if (rows[i].type == S_IFREG)
            mr_scratch_write(&scratch, "log", "", log);
        else
            assert_int_equal(rows[i].target ? symlink(rows[i].target, log) : mkfifo(log, 0600), 0);
        assert_int_equal(run(&(setup){.log = log, .keep_log = true}), 3);
        assert_int_equal(lstat(log, &info), 0);
        assert_int_equal(info.st_mode & S_IFMT, rows[i].type);
        assert_true(rows[i].type == S_IFLNK || info.st_size == 0);
        assert_int_equal(stat(file, &info), 0);
        assert_int_equal(info.st_size, 0);
        assert_int_not_equal(access(nothing, F_OK), 0);
    }
    unlink(log);
    unlink(file);
}

/* A program that runs with more rights than its user writes no log. */
static void test_more_rights(void **state)
{
    (void)state;
    const gid_t OTHER = 65534;
    char log[512], program[512];
    mr_scratch_path(&scratch, "log", log);
    mr_scratch_path(&scratch, "program", program);
    if (geteuid() != 0)
        skip();
    assert_int_equal(chown(program, (uid_t)-1, OTHER), 0);
    assert_int_equal(chmod(program, 02755), 0);
    int status = run(&(setup){.log = log, .end = "secure"});
    assert_int_equal(chmod(program, 0755), 0);
    if (status == 10)
        skip(); /* such programs have no more rights here */
    assert_int_equal(status, 9);
    assert_int_not_equal(access(log, F_OK), 0);
    assert_int_equal(run(&(setup){.log = log, .end = "secure"}), 10);
    assert_int_equal(access(log, F_OK), 0);
}

/* Synchronisation that is not seen is told in one line, and the trace says it. */
static void test_unseen(void **state)
{
    (void)state;
    static const struct {
        const char *source, *flags, *said, *kept;
    } rows[] = {
        {"int main(void)\n{\n    int sum = 0;\n#pragma omp parallel for reduction(+ : sum) "
         "num_threads(2)\n"
         "    for (int i = 0; i < 10; i++)\n        sum += i;\n    return sum != 45;\n}\n",
         "-fopenmp", NULL, NULL},
        {"#define _GNU_SOURCE\n#include <linux/io_uring.h>\n#include <sys/syscall.h>\n#include "
         "<unistd.h>\n"
         "int main(void)\n{\n    struct io_uring_params setup = {0};\n"
         "    return syscall(SYS_io_uring_setup, 1, &setup) < -1;\n}\n",
         "-g", "maxrace: io_uring synchronises",
         "not recorded                synchronisation by io_uring\n"},
        {"int main(void) { return 0; }\n", "-fopenmp", NULL, NULL},
        {"int x;\nint main(void)\n{\n    int old = 1;\n"
         "    __asm__ volatile(\".byte 0xf0; xaddl %0, %1\" : \"+r\"(old), \"+m\"(x));\n    return "
         "old;\n}\n",
         "-g", "maxrace: inline assembly synchronises",
         "not recorded                synchronisation by inline assembly\n"},
        {"short x;\nint main(void)\n{\n    short old = 1;\n"
         "    __asm__ volatile(\"lock; xaddw %0, %1\" : \"+r\"(old), \"+m\"(x));\n    return "
         "old;\n}\n",
         "-g", NULL, NULL},
        {"#include <maxrace/annotate.h>\nint x;\nint main(void)\n{\n    int old = 1;\n"
         "    maxrace_atomic atomic;\n    maxrace_annotate_atomic_begin(&atomic, &x, sizeof x);\n"
         "    __asm__ volatile(\"lock; xaddl %0, %1\" : \"+r\"(old), \"+m\"(x));\n"
         "    maxrace_annotate_atomic_end(&atomic, MAXRACE_ATOMIC_UPDATE, __ATOMIC_SEQ_CST);\n"
         "    return old;\n}\n",
         "-g", NULL, NULL},
        {"long x, y;\nint main(void)\n{\n    long z = __atomic_fetch_add(&x, 1, "
         "__ATOMIC_SEQ_CST);\n"
         "    __atomic_compare_exchange_n(&y, &z, 5, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);\n"
         "    __sync_synchronize();\n    return (int)z;\n}\n",
         "-g", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mr_run it;
        char path[512], arguments[256];
        mr_scratch_write(&scratch, "unseen.c", rows[i].source, path);
        snprintf(arguments, sizeof arguments, "cc -O1 -pthread %s @/unseen.c -o @/unseen",
                 rows[i].flags);
        mr_run_maxrace(&it, &scratch, arguments, NULL, MR_RUN_CAPTURE);
        assert_int_equal(it.status, 0);
        mr_run_free(&it);
        mr_run_maxrace(&it, &scratch, "record -o @/unseen.mrt -- @/unseen", NULL, MR_RUN_CAPTURE);
        assert_int_equal(it.status, 0);
        const char *first = rows[i].said ? strstr(it.error, rows[i].said) : NULL;
        assert_true(rows[i].said ? first && !strstr(first + 1, rows[i].said)
                                 : !strstr(it.error, "synchronises"));
        mr_run_free(&it);
        mr_run_maxrace(&it, &scratch, "info @/unseen.mrt", NULL, MR_RUN_CAPTURE);
        assert_true(rows[i].kept ? strstr(it.out, rows[i].kept) != NULL
                                 : strstr(it.out, "not recorded") == NULL);
        mr_run_free(&it);
    }
}

static int build_program(void **state)
{
    mr_run it;
    char path[512];
    mr_scratch_setup(state, &scratch);
    mr_scratch_write(&scratch, "program.c", source, path);
    mr_run_maxrace(&it, &scratch, "cc -g -O1 -pthread @/program.c -o @/program", NULL,
                   MR_RUN_CAPTURE);
    int status = it.status;
    if (status && status != 127)
        print_error("%s", it.error);
    mr_run_free(&it);
    return status == 127 ? 0 : status;
}

/* Without a compiler there is nothing to run. */
static bool built(void)
{
    char path[512];
    return access(mr_scratch_path(&scratch, "program", path), X_OK) == 0;
}

static int need_program(void **state)
{
    (void)state;
    if (!built())
        skip();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_exact, need_program),
        cmocka_unit_test_setup(test_seeds, need_program),
        cmocka_unit_test_setup(test_ends, need_program),
        cmocka_unit_test_setup(test_last_write, need_program),
        cmocka_unit_test_setup(test_fault, need_program),
        cmocka_unit_test_setup(test_full, need_program),
        cmocka_unit_test_setup(test_limit, need_program),
        cmocka_unit_test_setup(test_turns, need_program),
        cmocka_unit_test_setup(test_signals, need_program),
        cmocka_unit_test_setup(test_unrecorded, need_program),
        cmocka_unit_test_setup(test_unseen, need_program),
        cmocka_unit_test_setup(test_not_ours, need_program),
        cmocka_unit_test_setup(test_more_rights, need_program),
    };
    return cmocka_run_group_tests(tests, build_program, mr_scratch_teardown);
}
