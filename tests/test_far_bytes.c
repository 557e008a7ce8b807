/* far_bytes, syncp_bytes: what is said beforehand to be taken is about what is taken. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/big_trace.h"
#include "far/estimate.h"
#include "far/reduce.h"
#include "order/syncp/syncp.h"
#include "solver/decide.h"
#include "support/generate_large.h"
#include "support/trace_reading.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* Only glibc's own heap says what it holds. */
#if defined(__SANITIZE_ADDRESS__)
enum { HEAP_IS_KNOWN = 0 };
#else
enum { HEAP_IS_KNOWN = 1 };
#endif

typedef struct text {
    char *bytes;
    size_t count, capacity;
} text;

static bool take(void *context, const char *bytes, size_t count)
{
    text *self = context;
    if (!mr_grow((void **)&self->bytes, &self->capacity, self->count + count + 1, 1))
        return false;
    memcpy(self->bytes + self->count, bytes, count);
    self->count += count;
    self->bytes[self->count] = '\0';
    return true;
}

static mr_trace *big_trace(uint32_t threads)
{
    text self = {0};
    mr_big_shape shape = mr_big_shape_default();
    shape.events = 300000;
    shape.threads = threads;
    assert_true(mr_big_trace_write(&shape, take, &self));
    mr_trace *trace = mr_test_read(self.bytes, false);
    free(self.bytes);
    return trace;
}

static mr_trace *large_trace(const mr_large *shape)
{
    char *bytes = mr_generate_large(7, shape, 20000);
    assert_non_null(bytes);
    mr_trace *trace = mr_test_read(bytes, false);
    free(bytes);
    return trace;
}

/* The far window that has all of the reduced trace; its bytes. */
static uint64_t window_of(const mr_reduction *reduction, mr_model model)
{
    mr_error error = {0};
    mr_carried carried;
    mr_arena arena;
    mr_window *window;
    mr_problem problem;
    assert_int_equal(mr_carried_init(&carried, &reduction->trace, &error), MR_OK);
    carried.barrier_edges = &reduction->opaque;
    mr_arena_init(&arena);
    assert_int_equal(
        mr_window_build(&carried, reduction->trace.event_count, model, &arena, &window, &error),
        MR_OK);
    assert_true(mr_problem_init(&problem, window, &arena) &&
                mr_problem_list_rows(&problem,
                                     &(mr_decide_options){.steps = MR_STEP_BIT(MR_STEP_ELIMINATE)},
                                     &arena));
    uint64_t bytes = arena.in_use_bytes;
    mr_arena_free(&arena);
    mr_carried_free(&carried);
    return bytes;
}

/* `name` for messages. */
static void check_far(const char *name, const mr_trace *trace, mr_model model)
{
    mr_barrier_edges edges = {0};
    mr_reduction reduction;
    mr_error error = {0};
    mr_far_bytes bytes, half;
    assert_int_equal(mr_reduce(&reduction, trace, &edges, model, NULL, &error), MR_OK);
    uint32_t kept = reduction.trace.event_count;
    assert_true(mr_far_bytes_find(&bytes, trace, model, 0));
    assert_in_range(kept - bytes.kept, 0, trace->op_counts[MR_OP_JOIN]); /* the marks */
    uint64_t window_bytes = window_of(&reduction, model);
    print_message("%s: %u of %" PRIu64 " events, %.0f bytes each, %.0f expected\n", name, kept,
                  trace->event_count, (double)window_bytes / kept,
                  (double)bytes.window_bytes / kept);
    assert_in_range(window_bytes, bytes.window_bytes / 3, bytes.window_bytes / 9 * 10);
    assert_true(bytes.reduction_bytes >= 5ull * trace->event_count + 25ull * bytes.kept);
    assert_true(mr_far_bytes_peak(&bytes) >= bytes.window_bytes + 25ull * bytes.kept);
    assert_true(mr_far_bytes_find(&half, trace, model, bytes.kept / 2));
    assert_in_range(half.window_bytes, bytes.window_bytes / 3, bytes.window_bytes);
    assert_int_equal(half.reduction_bytes, bytes.reduction_bytes);
    mr_reduction_free(&reduction);
    mr_barrier_edges_free(&edges);
}

static uint64_t heap_bytes(void)
{
    struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

/* The index is what of the search can be looked at while it is there. */
static void check_syncp(const char *name, const mr_trace *trace)
{
    mr_detect_options options = {.most_examples = 1};
    mr_syncp_index *index;
    mr_error error = {0};
    uint64_t expected;
    assert_true(mr_syncp_bytes(trace, &expected));
    uint64_t before = heap_bytes();
    assert_int_equal(mr_syncp_index_new(trace, &options, &index, &error), MR_OK);
    uint64_t held = heap_bytes() - before;
    print_message("%s: %.1f MiB, %.1f expected of the search\n", name, (double)held / (1 << 20),
                  (double)expected / (1 << 20));
    if (HEAP_IS_KNOWN)
        assert_in_range(expected, held, held * 7);
    mr_syncp_index_free(index);
}

static void test_big_traces(void **state)
{
    (void)state;
    static const uint32_t threads[] = {4, 16, 64};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        mr_trace *trace = big_trace(threads[i]);
        check_far("big", trace, MR_MODEL_VALUE);
        check_far("big, rf", trace, MR_MODEL_RF);
        check_syncp("big", trace);
        mr_trace_free(trace);
    }
}

static void test_large_traces(void **state)
{
    (void)state;
    for (size_t s = 0; s < mr_large_shape_count; s++) {
        mr_trace *trace = large_trace(&mr_large_shapes[s]);
        check_far(mr_large_shapes[s].name, trace, MR_MODEL_VALUE);
        check_syncp(mr_large_shapes[s].name, trace);
        mr_trace_free(trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_big_traces),
        cmocka_unit_test(test_large_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
