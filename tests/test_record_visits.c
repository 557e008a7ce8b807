/* Which gaps access bytes that are kept (record/visits.h), against the definition, on random lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/random.h"

#include "record/visits.h"

enum { LINES = 6, GAPS = 40 };

/* What should be known. */
typedef struct known {
    bool accessed[LINES][GAPS], kept[GAPS], settled[LINES];
} known;

static void keep_all_of(known *self, int line)
{
    for (int gap = 0; gap < GAPS; gap++)
        self->kept[gap] = self->kept[gap] || self->accessed[line][gap];
}

static int count_kept(const known *self)
{
    int count = 0;
    for (int gap = 0; gap < GAPS; gap++)
        count += self->kept[gap];
    return count;
}

/* A gap, with accesses of `lines` lines; `marks`: per cent of the accesses that mark. */
static void run_gap(mr_visits *visits, mr_visit_list *lists, known *self, int gap,
                    mr_random *random, uint32_t marks)
{
    mr_visits_enter(visits, (size_t)gap);
    for (uint32_t i = mr_random_below(random, 6); i > 0; i--) {
        int line = (int)mr_random_below(random, LINES);
        mr_visits_note(visits, &lists[line]);
        self->accessed[line][gap] = true;
        self->kept[gap] = self->kept[gap] || self->settled[line];
        if (mr_random_percent(random, marks)) {
            self->kept[gap] = true;
            if (mr_random_percent(random, 50)) {
                keep_all_of(self, line);
                mr_visits_mark_all(visits, &lists[line]);
            } else {
                mr_visits_mark(visits);
            }
        }
    }
    mr_visits_leave(visits);
}

static void test_visits(void **state)
{
    (void)state;
    mr_random random = {7};
    int gave_up = 0, settled = 0;
    for (int round = 0; round < 2000; round++) {
        mr_visits visits = {.now = 0};
        mr_visit_list lists[LINES] = {{0, 0}};
        known self = {.kept = {false}};
        uint32_t marks = mr_random_below(&random, 20), settles = mr_random_below(&random, 8);
        bool is_crowded = false;
        mr_visits_come_to(&visits, 0);
        for (int gap = 0; gap < GAPS; gap++) {
            run_gap(&visits, lists, &self, gap, &random, marks);
            if (mr_random_percent(&random, settles)) {
                int line = (int)mr_random_below(&random, LINES);
                keep_all_of(&self, line);
                self.settled[line] = true;
                mr_visits_settle(&visits, &lists[line]);
                settled++;
            }
            if (gap % 8 == 7) {
                is_crowded = is_crowded || count_kept(&self) > (gap + 1) / 2;
                mr_visits_judge(&visits);
                assert_true(visits.given_up == is_crowded);
            }
        }
        mr_visits_end(&visits);
        for (int gap = 0; gap < GAPS; gap++)
            assert_true(mr_visits_has(&visits, (size_t)gap) == (is_crowded || self.kept[gap]));
        gave_up += is_crowded;
        mr_visits_free(&visits);
    }
    assert_true(gave_up > 200 && gave_up < 1800 && settled > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_visits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
