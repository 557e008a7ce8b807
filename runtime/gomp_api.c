/* What a program asks of OpenMP, and asks for: omp_get_… and omp_set_… (gomp.h). */
#include "gomp.h"

#include <limits.h>
#include <string.h>

/* As the environment says, until the program says it. */
static struct {
    bool known;
    int kind, chunk, most_levels;
    unsigned threads;
} asked;

/* `teams` sets it for the thread that comes to it, and is left to libgomp. */
unsigned mr_gomp_most_threads(const mr_gomp_self *self)
{
    static int (*real)(void);
    if (real == NULL) {
        real = (int (*)(void))mr_real_find("omp_get_thread_limit");
    }
    unsigned most = (unsigned)real();
    return most < self->team->most ? most : self->team->most;
}

static void look_at_environment(void)
{
    if (!asked.known) {
        asked.known = true;
        asked.threads = (unsigned)((int (*)(void))mr_real_find("omp_get_max_threads"))();
        asked.most_levels = ((int (*)(void))mr_real_find("omp_get_max_active_levels"))();
        ((void (*)(int *, int *))mr_real_find("omp_get_schedule"))(&asked.kind, &asked.chunk);
    }
}

void mr_gomp_schedule(int *kind, int *chunk)
{
    look_at_environment();
    *kind = asked.kind;
    *chunk = asked.chunk;
}

static unsigned threads_of(const mr_gomp_self *self)
{
    look_at_environment();
    return self->task->threads != 0 ? self->task->threads : asked.threads;
}

unsigned mr_gomp_team_size(const mr_gomp_self *self, unsigned threads)
{
    look_at_environment();
    unsigned size = threads != 0 ? threads : threads_of(self);
    if ((int)self->team->active_level >= asked.most_levels) {
        size = 1;
    }
    unsigned most = mr_gomp_most_threads(self);
    return size > most ? most : size;
}

static void set_schedule(int kind, int chunk)
{
    look_at_environment();
    asked.kind = kind;
    asked.chunk = chunk;
}

#define ANSWERS(name, value)                                                                       \
    static int name(void)                                                                          \
    {                                                                                              \
        const mr_gomp_self *self = mr_gomp_now();                                                  \
        return (int)(value);                                                                       \
    }
ANSWERS(get_thread_num, self->number)
ANSWERS(get_num_threads, self->team->size)
ANSWERS(get_max_threads, threads_of(self))
ANSWERS(get_level, self->team->level)
ANSWERS(get_active_level, self->team->active_level)
ANSWERS(in_parallel, self->team->active_level > 0)
ANSWERS(in_final, self->task->is_final)
ANSWERS(get_max_active_levels, (look_at_environment(), (void)self, asked.most_levels))
ANSWERS(get_nested, (look_at_environment(), (void)self, asked.most_levels > 1))
ANSWERS(get_thread_limit, mr_gomp_most_threads(self))
#undef ANSWERS

static void set_num_threads(int threads)
{
    mr_gomp_now()->task->threads = threads > 0 ? (unsigned)threads : 1;
}

static void set_max_active_levels(int levels)
{
    look_at_environment();
    if (levels >= 0) {
        asked.most_levels = levels;
    }
}

static void set_nested(int nested)
{
    look_at_environment();
    if (nested == 0 || asked.most_levels <= 1) {
        asked.most_levels = nested != 0 ? INT_MAX : 1;
    }
}

/* The calling thread, or who began its team, and so on, where the level is this one; NULL: there is none. */
static const mr_gomp_self *at_level(int level)
{
    const mr_gomp_self *self = mr_gomp_now();
    while (self != NULL && level >= 0 && self->team->level > (unsigned)level) {
        self = self->outer;
    }
    return self != NULL && level >= 0 && self->team->level == (unsigned)level ? self : NULL;
}

static int get_ancestor_thread_num(int level)
{
    const mr_gomp_self *self = at_level(level);
    return self != NULL ? (int)self->number : -1;
}

static int get_team_size(int level)
{
    const mr_gomp_self *self = at_level(level);
    return self != NULL ? (int)self->team->size : -1;
}

void *mr_gomp_answer_of(const char *name)
{
#define ROW(name)                                                                                  \
    {                                                                                              \
        "omp_" #name, (void *)(name)                                                               \
    }
    static const struct {
        const char *name;
        void *function;
    } all[] = {{"omp_get_schedule", (void *)mr_gomp_schedule},
               ROW(get_thread_num),
               ROW(get_num_threads),
               ROW(get_max_threads),
               ROW(get_level),
               ROW(get_active_level),
               ROW(in_parallel),
               ROW(in_final),
               ROW(get_max_active_levels),
               ROW(get_nested),
               ROW(get_thread_limit),
               ROW(set_schedule),
               ROW(set_num_threads),
               ROW(set_max_active_levels),
               ROW(set_nested),
               ROW(get_ancestor_thread_num),
               ROW(get_team_size)};
#undef ROW
    for (size_t i = 0; mr_self != NULL && mr_gomp_is_used() && i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i].name, name) == 0) {
            return all[i].function;
        }
    }
    return NULL;
}

MR_EXPORT int omp_get_thread_limit(void);
int omp_get_thread_limit(void)
{
    int (*answer)(void) = (int (*)(void))mr_gomp_answer_of("omp_get_thread_limit");
    if (answer == NULL) {
        answer = (int (*)(void))mr_real_look("omp_get_thread_limit");
    }
    return answer != NULL ? answer() : INT_MAX;
}
