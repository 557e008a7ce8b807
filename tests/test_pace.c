/* When a search through layers says that it will not come to its end (solver/pace.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/pace.h"

enum { EFFORT = 3200 };

/* Layers of a search: so many, of so much effort each; a race is found in the last of them. */
typedef struct part {
    uint32_t layers;
    uint64_t effort;
    bool finds;
} part;

enum { MOST_PARTS = 6 };

/* `ends`: the layer after which the search gives up; 0: it comes to its end. */
typedef struct row {
    const char *name;
    part parts[MOST_PARTS];
    uint32_t ends;
} row;

/* Layers of no effort come first where the average of all is to stay low. Each layer of 100 is a stretch. */
static const row rows[] = {
    {"the same all the time, all of the effort", {{3200, 1, false}}, 0},
    {"the same all the time, twice the effort", {{6400, 1, false}}, 3000},
    {"the same all the time, more than twice the effort", {{6401, 1, false}}, 26},
    {"16 times what is left", {{2000, 0, false}, {2, 100, false}, {480, 0, false}}, 0},
    {"more than that", {{2000, 0, false}, {2, 100, false}, {481, 0, false}}, 2002},
    {"in which a race was found",
     {{2000, 0, false}, {1, 100, false}, {1, 100, true}, {481, 0, false}},
     0},
    {"before which one was found",
     {{2000, 0, false}, {1, 100, true}, {1, 100, false}, {481, 0, false}},
     2002},
    {"too little for a stretch",
     {{2000, 0, false}, {1, 100, false}, {1, 99, false}, {9000, 0, false}},
     0},
    {"a stretch of many layers",
     {{2000, 0, false}, {1, 100, false}, {50, 2, false}, {9000, 0, false}},
     0},
};

/* The layer after which the search gives up; 0: none. */
static uint32_t end_of(const row *its)
{
    uint32_t layers = 0, done = 0;
    uint64_t effort = 0;
    for (uint32_t p = 0; p < MOST_PARTS; p++)
        layers += its->parts[p].layers;
    mr_pace pace = mr_pace_begin(layers, EFFORT);
    for (uint32_t p = 0; p < MOST_PARTS; p++)
        for (uint32_t i = 0; i < its->parts[p].layers; i++) {
            effort += its->parts[p].effort;
            if (effort > EFFORT)
                return done;
            if (its->parts[p].finds && i + 1 == its->parts[p].layers)
                mr_pace_find(&pace);
            if (mr_pace_is_vain(&pace, ++done, effort))
                return done;
        }
    return 0;
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (end_of(&rows[i]) != rows[i].ends)
            fail_msg("%s: ends after %u", rows[i].name, end_of(&rows[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
