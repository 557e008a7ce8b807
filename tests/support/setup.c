#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "setup.h"

#include "sample.h"

void mr_setup_open(mr_setup *setup, const char *text)
{
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    mr_setup_take(setup, trace);
}

void mr_setup_take(mr_setup *setup, mr_trace *trace)
{
    mr_error error = {0};
    *setup = (mr_setup){.trace = trace};
    mr_arena_init(&setup->arena);
    assert_int_equal(mr_carried_init(&setup->carried, setup->trace, &error), MR_OK);
    assert_int_equal(mr_barrier_edges_find(setup->trace, MR_OPAQUE_PAIR, &setup->opaque, &error),
                     MR_OK);
    setup->carried.barrier_edges = &setup->opaque;
}

void mr_setup_window(mr_setup *setup, uint32_t start, uint32_t end, mr_model model)
{
    mr_error error = {0};
    mr_arena_reset(&setup->arena);
    mr_carried_move(&setup->carried, start);
    assert_int_equal(
        mr_window_build(&setup->carried, end, model, &setup->arena, &setup->window, &error), MR_OK);
    assert_true(
        mr_precedence_build(&setup->hard, setup->window, MR_PRECEDENCE_HARD, NULL, &setup->arena));
    assert_true(mr_precedence_build(&setup->forced, setup->window, MR_PRECEDENCE_FORCED,
                                    &setup->hard, &setup->arena));
    assert_true(mr_precedence_build(&setup->source, setup->window, MR_PRECEDENCE_SOURCE, NULL,
                                    &setup->arena));
}

void mr_setup_give_back(mr_setup *setup)
{
    mr_arena_free(&setup->arena);
    mr_carried_free(&setup->carried);
    mr_barrier_edges_free(&setup->opaque);
}

void mr_setup_close(mr_setup *setup)
{
    mr_setup_give_back(setup);
    mr_trace_free(setup->trace);
}
