/*
 * hunt --exhaustive on real programs: random tiny programs (support/mini.h) are written in C, built and
 * explored. The number of behaviours is that of the enumeration of all interleavings, exactly, and there are
 * races where that has some.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "hunt/exhaustive/exhaustive_run.h"
#include "support/length.h"
#include "support/mini_random.h"
#include "support/scratch.h"

enum { PROGRAMS_MAX = 400, PROGRAMS = 31, STATES = 20000, BEHAVIOURS = 40 };

typedef struct chosen {
    mini_program programs[PROGRAMS_MAX];
    mini_found found[PROGRAMS_MAX];
    uint64_t seeds[PROGRAMS_MAX];
    unsigned count;
} chosen;

/* Every program is taken whose enumeration is small enough; those in which threads can wait for ever in
 * loops would take the time limit of a run, so they are left to test_model_search. */
static void choose(chosen *all, unsigned count)
{
    for (uint64_t seed = mr_number_from_environment("RUNS_SEED", 1); all->count < count; seed++) {
        mr_random random = {seed};
        mini_program *program = &all->programs[all->count];
        mini_found *found = &all->found[all->count];
        mini_random(&random, program);
        mini_enumerate(program, STATES, found);
        if (found->gave_up || found->endless || found->finals > BEHAVIOURS || found->finals < 2)
            free(found->behaviours);
        else
            all->seeds[all->count++] = seed;
    }
}

static void build(const chosen *all, const char *folder)
{
    char path[300], command[1200];
    const char *maxrace = getenv("MAXRACE");
    snprintf(path, sizeof path, "%s/all.c", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    mini_write_c(all->programs, all->count, file);
    assert_int_equal(fclose(file), 0);
    snprintf(command, sizeof command, "%s cc -O1 -g -w -o %s/all %s -pthread",
             maxrace ? maxrace : "build/release/maxrace", folder, path);
    assert_int_equal(system(command), 0);
}

/* What came of the programs. */
typedef struct tally {
    unsigned exact, different;
    unsigned refused; /* of which the mode claims nothing */
    unsigned again;
} tally;

static bool count(const mini_found *found, const mr_explore *self, tally *counts)
{
    bool is_right = self->verdict == MR_EXPLORE_ALL &&
                    (self->search.race_count != 0) == (found->races != 0) &&
                    self->search.final_count == found->finals;
    counts->exact += is_right;
    counts->refused += self->verdict == MR_EXPLORE_STUCK;
    counts->different += !is_right && self->verdict != MR_EXPLORE_STUCK;
    return is_right;
}

/* A run may do something else than its way says. The mode then claims nothing, and is asked again. */
static mr_status explore_again(mr_explore *self, mr_explore_program *program, tally *counts,
                               mr_error *error)
{
    enum { TRIES = 3 };
    const mr_explore_settings settings = {.runner = mr_explore_run_program, .context = program};
    mr_status status = MR_OK;
    for (int i = 0; !status && i < TRIES; i++) {
        mr_explore_free(self);
        *self = (mr_explore){.had = NULL};
        status = mr_explore_all(self, &settings, error);
        if (self->verdict != MR_EXPLORE_STUCK)
            break;
        counts->again++;
    }
    return status;
}

static void explore(const chosen *all, unsigned number, const char *folder, tally *counts)
{
    char path[300], argument[20];
    const char *arguments[] = {path, argument, NULL};
    mr_explore self = {.had = NULL};
    mr_explore_program program = {.arguments = arguments, .timeout_ms = 20000};
    mr_error error = {0};
    snprintf(path, sizeof path, "%s/all", folder);
    snprintf(argument, sizeof argument, "%u", number);
    assert_int_equal(mr_runner_open(&program.runner, NULL, &error), MR_OK);
    mr_status status = explore_again(&self, &program, counts, &error);
    const mini_found *found = &all->found[number];
    if (status)
        counts->different++;
    if (status || !count(found, &self, counts))
        printf(
            "program %u, seed %llu: %s verdict %d %s; behaviours %zu, enumerated %zu; races %zu, "
            "enumerated %zu; %llu runs\n",
            number, (unsigned long long)all->seeds[number], status ? error.text : "",
            (int)self.verdict, self.reason, self.search.final_count, found->finals,
            self.search.race_count, found->races, (unsigned long long)self.runs);
    mr_explore_program_free(&program);
    mr_explore_free(&self);
}

static void real_programs(void **state)
{
    mr_scratch scratch;
    char command[300];
    chosen *all = calloc(1, sizeof *all);
    tally counts = {.exact = 0};
    (void)state;
    mr_scratch_make(&scratch);
    const char *folder = scratch.dir;
    choose(all, (unsigned)mr_length("RUNS_PROGRAMS", PROGRAMS, 200));
    build(all, folder);
    for (unsigned i = 0; i < all->count; i++) {
        explore(all, i, folder, &counts);
        free(all->found[i].behaviours);
    }
    printf("%u programs: %u have exactly the enumerated behaviours, %u differ, of %u nothing is "
           "claimed; %u explorations were made again\n",
           all->count, counts.exact, counts.different, counts.refused, counts.again);
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (!getenv("RUNS_KEEP"))
        assert_int_equal(system(command), 0);
    else
        puts(folder);
    unsigned all_count = all->count;
    free(all);
    assert_int_equal(counts.exact, all_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(real_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
