/*
 * What a program asks OpenMP, and sets: omp_get_…, omp_set_…; and what compiled code asks.
 */
#include "kmpc.h"

#include "gomp.h"
#include "sys.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

/* ---- settings ---- */

static int processors(void)
{
    enum { WORDS = 128, BITS = 64 };
    uint64_t mask[WORDS] = {0};
    long bytes = mr_sys(SYS_sched_getaffinity, 0, sizeof mask, (long)mask, 0, 0, 0);
    int count = 0;
    for (long i = 0; i < bytes * 8; i++) {
        count += (int)(mask[i / BITS] >> i % BITS & 1);
    }
    return count > 0 ? count : 1;
}

/* The number that the text begins with; 0: there is none. */
static int number_at(const char *text)
{
    enum { MOST = 1 << 20 };
    int number = 0;
    while (text != NULL && *text == ' ') {
        text++;
    }
    for (; text != NULL && *text >= '0' && *text <= '9' && number < MOST; text++) {
        number = number * 10 + (*text - '0');
    }
    return number;
}

static int number_in(const char *name)
{
    return number_at(getenv(name));
}

static char lower_case(char letter)
{
    return (char)(letter | 0x20);
}

static bool is_true(const char *name)
{
    const char *text = getenv(name);
    return text != NULL && (lower_case(*text) == 't' || lower_case(*text) == 'y' || *text == '1');
}

/* OMP_SCHEDULE: [modifier:]kind[,chunk] */
static void read_schedule(mr_kmpc_settings *settings)
{
    static const char kinds[] = "sdga"; /* static, dynamic, guided, auto */
    const char *text = getenv("OMP_SCHEDULE"), *at = text;
    for (; at != NULL && *at != '\0' && *at != ','; at++) {
        text = *at == ':' ? at + 1 : text;
    }
    for (int i = 0; text != NULL && kinds[i] != '\0'; i++) {
        settings->schedule = lower_case(*text) == kinds[i] ? i + 1 : settings->schedule;
    }
    for (at = at != NULL && *at == ',' ? at + 1 : NULL; at != NULL && *at != '\0'; at++) {
        if (*at >= '0' && *at <= '9' && settings->chunk < INT32_MAX / 16) {
            settings->chunk = settings->chunk * 10 + (*at - '0');
        }
    }
}

/* OMP_NUM_THREADS: one number for each level. */
static void read_threads(mr_kmpc_limits *limits)
{
    const char *text = getenv("OMP_NUM_THREADS");
    for (int i = 0; i < MR_KMPC_LEVELS && text != NULL; i++) {
        limits->threads_at[i] = number_at(text);
        while (*text != '\0' && *text != ',') {
            text++;
        }
        text = *text == ',' ? text + 1 : NULL;
    }
}

const mr_kmpc_limits *mr_kmpc_limits_now(void)
{
    static mr_kmpc_limits limits;
    if (limits.threads == 0) {
        const char *levels = getenv("OMP_MAX_ACTIVE_LEVELS");
        int most = number_in("OMP_THREAD_LIMIT");
        read_threads(&limits);
        bool nests = is_true("OMP_NESTED") || limits.threads_at[1] > 0;
        limits.first.threads = limits.threads_at[0] > 0 ? limits.threads_at[0] : processors();
        limits.first.most_active_levels = levels != NULL && *levels >= '0' && *levels <= '9'
                                              ? number_at(levels)
                                          : nests ? INT32_MAX
                                                  : 1;
        limits.first.is_dynamic = is_true("OMP_DYNAMIC");
        read_schedule(&limits.first);
        limits.threads = most > 0 ? most : INT32_MAX;
    }
    return &limits;
}

/* ---- the library, where the program is not recorded, or the functions for that of gcc ---- */

/* A program may ask for these functions and be linked with no OpenMP. */
static void *library(const char *name)
{
    void *of_gcc = mr_gomp_answer_of(name);
    return of_gcc != NULL ? of_gcc : mr_real_look(name);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

#define ASK(type, name, otherwise, answer)                                                         \
    MR_EXPORT type name(void);                                                                     \
    type name(void)                                                                                \
    {                                                                                              \
        if (!mr_kmpc_answers()) {                                                                  \
            type (*real)(void) = (type(*)(void))library(#name);                                    \
            return real != NULL ? real() : (type)(otherwise);                                      \
        }                                                                                          \
        const mr_kmpc_thread *self = mr_kmpc_current();                                            \
        return self == NULL ? (type)(otherwise) : (type)(answer);                                  \
    }
ASK(int, omp_get_thread_num, 0, self->member->tid)
ASK(int, omp_get_num_threads, 1, self->member->team->size)
ASK(int, omp_get_max_threads, 1, self->settings.threads)
ASK(int, omp_get_level, 0, self->member->team->level)
ASK(int, omp_get_active_level, 0, self->member->team->active_level)
ASK(int, omp_in_parallel, 0, self->member->team->active_level > 0)
ASK(int, omp_in_final, 0, self->task->is_final)
ASK(int, omp_get_dynamic, 0, self->settings.is_dynamic)
ASK(int, omp_get_nested, 0, self->settings.most_active_levels > 1)
ASK(int, omp_get_max_active_levels, 1, self->settings.most_active_levels)
ASK(int, omp_get_cancellation, 0, 0)
ASK(int, omp_get_num_procs, processors(), processors())
ASK(int, omp_get_num_teams, 1, self != NULL)
ASK(int, omp_get_team_num, 0, self == NULL)
ASK(double, omp_get_wtime, seconds_now(), seconds_now())
#undef ASK

#define SET(name, parameter, statement)                                                            \
    MR_EXPORT void name(int parameter);                                                            \
    void name(int parameter)                                                                       \
    {                                                                                              \
        if (!mr_kmpc_answers()) {                                                                  \
            void (*real)(int) = (void (*)(int))library(#name);                                     \
            if (real != NULL) {                                                                    \
                real(parameter);                                                                   \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        mr_kmpc_thread *self = mr_kmpc_current();                                                  \
        if (self != NULL) {                                                                        \
            statement;                                                                             \
        }                                                                                          \
    }
SET(omp_set_num_threads, count, self->settings.threads = count > 0 ? count : 1)
SET(omp_set_dynamic, is_dynamic, self->settings.is_dynamic = is_dynamic != 0)
SET(omp_set_nested, nests, self->settings.most_active_levels = nests ? INT32_MAX : 1)
SET(omp_set_max_active_levels, levels,
    self->settings.most_active_levels = levels >= 0 ? levels : self->settings.most_active_levels)
#undef SET

/* ---- with other parameters ---- */

/* Kinds of schedule(runtime); a modifier is above. */
enum { STATIC = 1, AUTO = 4, KIND = 0xffff };

MR_EXPORT void omp_set_schedule(int kind, int chunk);
void omp_set_schedule(int kind, int chunk)
{
    if (!mr_kmpc_answers()) {
        void (*real)(int, int) = (void (*)(int, int))library("omp_set_schedule");
        if (real != NULL) {
            real(kind, chunk);
        }
        return;
    }
    mr_kmpc_thread *self = mr_kmpc_current();
    bool is_known = (kind & KIND) >= STATIC && (kind & KIND) <= AUTO;
    if (self != NULL) {
        self->settings.schedule = is_known ? kind : STATIC;
        self->settings.chunk = is_known && chunk > 0 ? chunk : 0;
    }
}

MR_EXPORT void omp_get_schedule(int *kind, int *chunk);
void omp_get_schedule(int *kind, int *chunk)
{
    if (!mr_kmpc_answers()) {
        void (*real)(int *, int *) = (void (*)(int *, int *))library("omp_get_schedule");
        if (real != NULL) {
            real(kind, chunk);
        }
        return;
    }
    const mr_kmpc_thread *self = mr_kmpc_current();
    const mr_kmpc_settings *settings =
        self != NULL ? &self->settings : &mr_kmpc_limits_now()->first;
    int schedule = settings->schedule & KIND;
    *kind = schedule != 0 ? settings->schedule : STATIC;
    *chunk = schedule == AUTO ? 1 : settings->chunk > 0 ? settings->chunk : schedule > STATIC;
}

/* The member of the calling thread's teams at this level; NULL: there is none. */
static const mr_kmpc_member *member_at(int level)
{
    const mr_kmpc_thread *self = mr_kmpc_current();
    const mr_kmpc_member *at = self != NULL ? self->member : NULL;
    while (at != NULL && at->team->level > level) {
        at = at->team->above;
    }
    return at != NULL && at->team->level == level ? at : NULL;
}

#define ASK_AT(name, answer)                                                                       \
    MR_EXPORT int name(int level);                                                                 \
    int name(int level)                                                                            \
    {                                                                                              \
        if (!mr_kmpc_answers()) {                                                                  \
            int (*real)(int) = (int (*)(int))library(#name);                                       \
            return real != NULL ? real(level) : -1;                                                \
        }                                                                                          \
        const mr_kmpc_member *member = member_at(level);                                           \
        return member != NULL ? (answer) : -1;                                                     \
    }
ASK_AT(omp_get_ancestor_thread_num, member->tid)
ASK_AT(omp_get_team_size, member->team->size)
#undef ASK_AT

MR_EXPORT int __kmpc_global_thread_num(void *place);
int __kmpc_global_thread_num(void *place)
{
    if (!mr_kmpc_is_ours()) {
        return MR_REAL(__kmpc_global_thread_num)(place);
    }
    const mr_kmpc_thread *self = mr_kmpc_current();
    return self != NULL ? self->number : 0;
}

MR_EXPORT void __kmpc_push_num_threads(void *place, int number, int count);
void __kmpc_push_num_threads(void *place, int number, int count)
{
    if (!mr_kmpc_is_ours()) {
        MR_REAL(__kmpc_push_num_threads)(place, MR_THEIRS(number), count);
        return;
    }
    mr_kmpc_thread *self = mr_kmpc_current();
    if (self != NULL) {
        self->threads_pushed = count > 0 ? count : 0;
    }
}

#define IGNORED(name, parameters, arguments)                                                       \
    MR_EXPORT void name parameters;                                                                \
    void name parameters                                                                           \
    {                                                                                              \
        if (!mr_kmpc_is_ours()) {                                                                  \
            MR_REAL(name) arguments;                                                               \
        }                                                                                          \
    }
IGNORED(__kmpc_push_proc_bind, (void *place, int number, int how), (place, MR_THEIRS(number), how))
IGNORED(__kmpc_push_num_teams, (void *place, int number, int teams, int threads),
        (place, MR_THEIRS(number), teams, threads))
IGNORED(__kmpc_push_num_teams_51, (void *place, int number, int least, int most, int threads),
        (place, MR_THEIRS(number), least, most, threads))
IGNORED(__kmpc_begin, (void *place, int flags), (place, flags))
IGNORED(__kmpc_end, (void *place), (place))
#undef IGNORED
