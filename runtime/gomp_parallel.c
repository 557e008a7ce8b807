/* Parallel regions and barriers of OpenMP (gomp.h). */
#include "gomp.h"

MR_EXPORT void GOMP_parallel(mr_gomp_function function, void *data, unsigned threads,
                             unsigned flags);
void GOMP_parallel(mr_gomp_function function, void *data, unsigned threads, unsigned flags)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        MR_REAL(GOMP_parallel)(function, data, threads, flags);
        return;
    }
    mr_gomp_parallel(thread, function, data, threads, NULL, MR_CALLER);
    mr_leave(thread);
}

/* The number of threads is what the caller combines the results of. */
MR_EXPORT unsigned GOMP_parallel_reductions(mr_gomp_function function, void *data, unsigned threads,
                                            unsigned flags);
unsigned GOMP_parallel_reductions(mr_gomp_function function, void *data, unsigned threads,
                                  unsigned flags)
{
    if (mr_gomp_is_used()) {
        mr_gomp_unseen();
    }
    return MR_REAL(GOMP_parallel_reductions)(function, data, threads, flags);
}

#define LOOP(name, kind)                                                                           \
    MR_EXPORT void GOMP_parallel_loop_##name(mr_gomp_function function, void *data,                \
                                             unsigned threads, long start, long end, long step,    \
                                             long chunk, unsigned flags);                          \
    void GOMP_parallel_loop_##name(mr_gomp_function function, void *data, unsigned threads,        \
                                   long start, long end, long step, long chunk, unsigned flags)    \
    {                                                                                              \
        mr_thread *thread = MR_GOMP_ENTER();                                                       \
        if (thread == NULL) {                                                                      \
            MR_REAL(GOMP_parallel_loop_##name)                                                     \
            (function, data, threads, start, end, step, chunk, flags);                             \
            return;                                                                                \
        }                                                                                          \
        mr_gomp_share shape = {.next = NULL};                                                      \
        mr_gomp_shape(&shape, start, end, step, kind, chunk);                                      \
        mr_gomp_parallel(thread, function, data, threads, &shape, MR_CALLER);                      \
        mr_leave(thread);                                                                          \
    }
#define LOOP_BY_PROGRAM(name)                                                                      \
    MR_EXPORT void GOMP_parallel_loop_##name(mr_gomp_function function, void *data,                \
                                             unsigned threads, long start, long end, long step,    \
                                             unsigned flags);                                      \
    void GOMP_parallel_loop_##name(mr_gomp_function function, void *data, unsigned threads,        \
                                   long start, long end, long step, unsigned flags)                \
    {                                                                                              \
        mr_thread *thread = MR_GOMP_ENTER();                                                       \
        if (thread == NULL) {                                                                      \
            MR_REAL(GOMP_parallel_loop_##name)                                                     \
            (function, data, threads, start, end, step, flags);                                    \
            return;                                                                                \
        }                                                                                          \
        mr_gomp_share shape = {.next = NULL};                                                      \
        mr_gomp_shape(&shape, start, end, step, MR_GOMP_BY_PROGRAM, 0);                            \
        mr_gomp_parallel(thread, function, data, threads, &shape, MR_CALLER);                      \
        mr_leave(thread);                                                                          \
    }
LOOP(static, MR_GOMP_STATIC)
LOOP(dynamic, MR_GOMP_DYNAMIC)
LOOP(guided, MR_GOMP_GUIDED)
LOOP(nonmonotonic_dynamic, MR_GOMP_DYNAMIC)
LOOP(nonmonotonic_guided, MR_GOMP_GUIDED)
LOOP_BY_PROGRAM(runtime)
LOOP_BY_PROGRAM(nonmonotonic_runtime)
LOOP_BY_PROGRAM(maybe_nonmonotonic_runtime)
#undef LOOP
#undef LOOP_BY_PROGRAM

MR_EXPORT void GOMP_parallel_sections(mr_gomp_function function, void *data, unsigned threads,
                                      unsigned count, unsigned flags);
void GOMP_parallel_sections(mr_gomp_function function, void *data, unsigned threads, unsigned count,
                            unsigned flags)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        MR_REAL(GOMP_parallel_sections)(function, data, threads, count, flags);
        return;
    }
    mr_gomp_share shape = {.kind = MR_GOMP_DYNAMIC, .count = count, .chunk = 1};
    mr_gomp_parallel(thread, function, data, threads, &shape, MR_CALLER);
    mr_leave(thread);
}

MR_EXPORT void GOMP_barrier(void);
void GOMP_barrier(void)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        MR_REAL(GOMP_barrier)();
        return;
    }
    mr_gomp_barrier(thread, MR_CALLER);
    mr_leave(thread);
}

MR_EXPORT bool GOMP_barrier_cancel(void);
bool GOMP_barrier_cancel(void)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        return MR_REAL(GOMP_barrier_cancel)();
    }
    mr_gomp_barrier(thread, MR_CALLER);
    mr_leave(thread);
    return false;
}

/* Programs that cancel are left to the library. */
MR_EXPORT bool GOMP_cancel(int which, bool does);
bool GOMP_cancel(int which, bool does)
{
    return !mr_gomp_is_used() && MR_REAL(GOMP_cancel)(which, does);
}

MR_EXPORT bool GOMP_cancellation_point(int which);
bool GOMP_cancellation_point(int which)
{
    return !mr_gomp_is_used() && MR_REAL(GOMP_cancellation_point)(which);
}
