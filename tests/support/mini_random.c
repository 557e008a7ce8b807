#include "mini_random.h"

#include <string.h>

static void add(mini_program *program, unsigned thread, mini_op op, int a, int b, int c)
{
    if (program->count[thread] < MINI_LINES)
        program->lines[thread][program->count[thread]++] = (mini_line){op, a, b, c};
}

static int below(mr_random *random, uint32_t bound)
{
    return (int)mr_random_below(random, bound);
}

static void add_random(mr_random *random, mini_program *program, unsigned thread, unsigned shape)
{
    int x = below(random, 2), r = below(random, 2), value = 1 + below(random, 2);
    int head = (int)program->count[thread];
    switch (below(random, 18)) {
    case 0:
    case 1:
        add(program, thread, MINI_LOAD, r, x, 0);
        break;
    case 2:
    case 3:
        add(program, thread, MINI_STORE, value, x, 0);
        break;
    case 4:
        add(program, thread, MINI_LOAD, r, x, 0);
        add(program, thread, MINI_ADD, r, 0, 1);
        add(program, thread, MINI_STORE_REG, r, x, 0);
        break;
    case 5:
        add(program, thread, MINI_FETCH_ADD, r, x, 1);
        break;
    case 6:
        add(program, thread, shape % 2 ? MINI_CAS : MINI_EXCHANGE, r, x, value);
        break;
    case 7:
        add(program, thread, MINI_LOCK, 0, x, 0);
        add(program, thread, MINI_LOAD, r, x, 0);
        add(program, thread, MINI_STORE, value, x, 0);
        add(program, thread, MINI_UNLOCK, 0, x, 0);
        break;
    case 8:
        add(program, thread, MINI_TRYLOCK, r, x, 0);
        add(program, thread, MINI_IF_NE, r, head + 3, 1);
        add(program, thread, MINI_UNLOCK, 0, x, 0);
        break;
    case 9:
        add(program, thread, MINI_POST, 0, x, 0);
        break;
    case 10:
        add(program, thread, below(random, 2) ? MINI_WAIT : MINI_TRYWAIT, r, x, 0);
        break;
    case 11:
        add(program, thread, MINI_LOCK, 0, 2, 0);
        add(program, thread, below(random, 2) ? MINI_SLEEP : MINI_TIMED_SLEEP, r, x, 2);
        add(program, thread, MINI_UNLOCK, 0, 2, 0);
        break;
    case 12:
        add(program, thread, below(random, 2) ? MINI_SIGNAL : MINI_BROADCAST, 0, x, 0);
        break;
    case 13:
        add(program, thread, MINI_BARRIER, r, x, 2);
        break;
    case 14: /* waits for a value */
        add(program, thread, below(random, 2) ? MINI_LOAD : MINI_ALOAD, r, x, 0);
        add(program, thread, MINI_IF_NE, r, head, value);
        break;
    case 15: /* a loop that looks at two variables */
        add(program, thread, MINI_LOAD, 0, 0, 0);
        add(program, thread, MINI_LOAD, 1, 1, 0);
        add(program, thread, MINI_IF_NE, r, head, value);
        break;
    case 16: /* a spin lock */
        add(program, thread, MINI_CAS, r, 3, 1);
        add(program, thread, MINI_IF_NE, r, head, 0);
        add(program, thread, MINI_LOAD, r, x, 0);
        add(program, thread, MINI_ASTORE, 0, 3, 0);
        break;
    default:
        add(program, thread, MINI_RDLOCK, 0, x, 0);
        add(program, thread, MINI_LOAD, r, x, 0);
        add(program, thread, MINI_RDUNLOCK, 0, x, 0);
        break;
    }
}

void mini_random(mr_random *random, mini_program *program)
{
    memset(program, 0, sizeof *program);
    program->threads = 2 + mr_random_below(random, 3);
    unsigned shape = mr_random_below(random, 4);
    int in_main = below(random, 2);
    for (unsigned t = 1; t < program->threads; t++)
        add(program, 0, MINI_FORK, 0, (int)t, 0);
    for (int i = 0; i < in_main; i++)
        add_random(random, program, 0, shape);
    for (unsigned t = 1; t < program->threads; t++)
        if (mr_random_percent(random, 80))
            add(program, 0, MINI_JOIN, 0, (int)t, 0);
    if (mr_random_percent(random, 50))
        add(program, 0, MINI_EXIT, 0, 0, 0);
    for (unsigned t = 1; t < program->threads; t++)
        for (unsigned i = 1 + mr_random_below(random, program->threads > 3 ? 2 : 3); i > 0; i--)
            add_random(random, program, t, shape);
}
