/*
 * hunt --exhaustive on real programs: random tiny programs (support/mini.h) are written in C, built and
 * explored. The number of behaviours is that of the enumeration of all interleavings, exactly, and there are
 * races where that has some. Only of programs with loops a few may have more, as model.h says.
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

enum { PROGRAMS_MAX = 400, PROGRAMS_EXACT = 30, STATES = 20000, BEHAVIOURS = 40 };

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

/* Does a thread of the program go back to an earlier line? */
static bool has_loop(const mini_program *program)
{
    for (unsigned t = 0; t < program->threads; t++)
        for (unsigned i = 0; i < program->count[t]; i++)
            if (program->lines[t][i].op == MINI_IF_NE && program->lines[t][i].b <= (int)i)
                return true;
    return false;
}

/* What came of the programs. */
typedef struct tally {
    unsigned exact; /* as many behaviours as enumerated, … */
    unsigned plain; /* … of these without a loop */
    unsigned more, different, again;
    unsigned refused; /* of which the mode claims nothing */
} tally;

/* Registers that compiled code does not use any more may tell the first iteration of a loop from the
 * later ones (model.h). Then there are more behaviours; there are never fewer. */
static bool count(const chosen *all, unsigned number, const mr_explore *self, tally *counts)
{
    const mini_found *found = &all->found[number];
    bool loops = has_loop(&all->programs[number]);
    size_t behaviours = self->search.final_count;
    if (self->verdict == MR_EXPLORE_STUCK) {
        counts->refused++;
        return false;
    }
    bool is_right = self->verdict == MR_EXPLORE_ALL &&
                    (self->search.race_count != 0) == (found->races != 0) &&
                    (behaviours == found->finals || (behaviours > found->finals && loops));
    counts->exact += is_right && behaviours == found->finals;
    counts->plain += is_right && !loops;
    counts->more += is_right && behaviours != found->finals;
    counts->different += !is_right;
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
    if (status || !count(all, number, &self, counts))
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
    choose(all, (unsigned)mr_length("RUNS_PROGRAMS", PROGRAMS_EXACT + 1, 200));
    build(all, folder);
    for (unsigned i = 0; i < all->count; i++) {
        explore(all, i, folder, &counts);
        free(all->found[i].behaviours);
    }
    printf(
        "%u programs: %u have exactly the enumerated behaviours, %u have more because of loops, %u "
        "differ, of %u nothing is claimed; of %u without loops none has more; %u explorations were "
        "made again\n",
        all->count, counts.exact, counts.more, counts.different, counts.refused, counts.plain,
        counts.again);
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (!getenv("RUNS_KEEP"))
        assert_int_equal(system(command), 0);
    else
        puts(folder);
    unsigned all_count = all->count;
    free(all);
    assert_int_equal(counts.different, 0);
    assert_true(counts.more <= all_count / 20);
    assert_true(counts.refused <= 1 + all_count / 20); /* it is right, and must be rare */
    if (!getenv("RUNS_PROGRAMS"))
        assert_true(counts.exact >= PROGRAMS_EXACT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(real_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
