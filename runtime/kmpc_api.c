/*
 * What a program asks OpenMP, and sets: omp_get_…, omp_set_…; and what compiled code asks.
 */
#include "kmpc.h"

#include "gomp.h"
#include "sys.h"
#include "writer.h"

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

/* The first number in a variable of the environment; 0: there is none. */
static int number_in(const char *name)
{
    enum { MOST = 1 << 20 };
    const char *text = getenv(name);
    int number = 0;
    while (text != NULL && *text == ' ') {
        text++;
    }
    for (; text != NULL && *text >= '0' && *text <= '9' && number < MOST; text++) {
        number = number * 10 + (*text - '0');
    }
    return number;
}

static char lower_case(char letter)
{
    return (char)(letter | 0x20);
}

/* OMP_STACKSIZE: a number, of KiB where no unit follows. */
static size_t stack_size(void)
{
    enum { KIB = 1024, LEAST = 1 << 16 };
    const char *text = getenv("OMP_STACKSIZE");
    size_t bytes = (size_t)number_in("OMP_STACKSIZE");
    while (text != NULL && (*text == ' ' || (*text >= '0' && *text <= '9'))) {
        text++;
    }
    char unit = text != NULL && *text != '\0' ? lower_case(*text) : 'k';
    bytes *= unit == 'g'   ? (size_t)KIB * KIB * KIB
             : unit == 'm' ? KIB * KIB
             : unit == 'b' ? 1
                           : KIB;
    return bytes >= LEAST ? bytes : 0;
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

mr_kmpc_settings *mr_kmpc_settings_now(void)
{
    static mr_kmpc_settings settings;
    if (settings.threads == 0) {
        int given = number_in("OMP_NUM_THREADS"), levels = number_in("OMP_MAX_ACTIVE_LEVELS");
        const char *nested = getenv("OMP_NESTED");
        const char *list = getenv("OMP_NUM_THREADS");
        bool nests = nested != NULL && (lower_case(*nested) == 't' || *nested == '1');
        for (; list != NULL && *list != '\0'; list++) {
            nests = nests || *list == ',';
        }
        settings.stack_bytes = stack_size();
        settings.threads = given > 0 ? given : processors();
        settings.most_active_levels = levels > 0 ? levels : nests ? INT32_MAX : 1;
        read_schedule(&settings);
    }
    return &settings;
}

/* ---- the library, where the program is not recorded, or the functions for that of gcc ---- */

/* A program may ask for these functions and be linked with no OpenMP. */
static void *library(const char *name)
{
    void *of_gcc = mr_gomp_answer_of(name);
    return of_gcc != NULL ? of_gcc : mr_real_look(name);
}

static int threads_of(const mr_kmpc_thread *self)
{
    return self->threads_wanted > 0 ? self->threads_wanted : mr_kmpc_settings_now()->threads;
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
ASK(int, omp_get_max_threads, 1, threads_of(self))
ASK(int, omp_get_level, 0, self->member->team->level)
ASK(int, omp_get_active_level, 0, self->member->team->active_level)
ASK(int, omp_in_parallel, 0, self->member->team->active_level > 0)
ASK(int, omp_in_final, 0, self->task->is_final)
ASK(int, omp_get_dynamic, 0, 0)
ASK(int, omp_get_nested, 0, mr_kmpc_settings_now()->most_active_levels > 1)
ASK(int, omp_get_max_active_levels, 1, mr_kmpc_settings_now()->most_active_levels)
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
SET(omp_set_num_threads, count, self->threads_wanted = count > 0 ? count : self->threads_wanted)
SET(omp_set_dynamic, is_dynamic, (void)is_dynamic)
SET(omp_set_nested, nests, mr_kmpc_settings_now()->most_active_levels = nests ? INT32_MAX : 1)
SET(omp_set_max_active_levels, levels,
    mr_kmpc_settings_now()->most_active_levels = levels >= 0 ? levels : 1)
#undef SET

/* ---- with other parameters ---- */

MR_EXPORT void omp_set_schedule(int kind, int chunk);
void omp_set_schedule(int kind, int chunk)
{
    enum { KIND = 0xffff };
    if (!mr_kmpc_answers()) {
        void (*real)(int, int) = (void (*)(int, int))library("omp_set_schedule");
        if (real != NULL) {
            real(kind, chunk);
        }
        return;
    }
    mr_kmpc_settings_now()->schedule = kind & KIND;
    mr_kmpc_settings_now()->chunk = chunk > 0 ? chunk : 0;
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
    const mr_kmpc_settings *settings = mr_kmpc_settings_now();
    *kind = settings->schedule > 0 ? settings->schedule : 1;
    *chunk = settings->chunk;
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
        MR_REAL(__kmpc_push_num_threads)(place, number, count);
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
IGNORED(__kmpc_push_proc_bind, (void *place, int number, int how), (place, number, how))
IGNORED(__kmpc_push_num_teams, (void *place, int number, int teams, int threads),
        (place, number, teams, threads))
IGNORED(__kmpc_push_num_teams_51, (void *place, int number, int least, int most, int threads),
        (place, number, least, most, threads))
IGNORED(__kmpc_begin, (void *place, int flags), (place, flags))
IGNORED(__kmpc_end, (void *place), (place))
#undef IGNORED
