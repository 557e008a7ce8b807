/* Loops of OpenMP in which iterations wait for others: ordered(n), depend(sink), depend(source) (gomp.h). */
#include "gomp.h"

#include "steer.h"

#include <stdarg.h>

/* Each iteration of all nested loops has a byte: it has posted. Its address is the place of the order. */
static void set_nest(mr_gomp_share *share, unsigned depth, const uint64_t *counts)
{
    if (share->posted != NULL || share->depth != 0) {
        return;
    }
    if (depth > MR_GOMP_DEPTH) {
        mr_gomp_unseen();
        return;
    }
    share->depth = depth;
    share->posted_bytes = 1;
    for (unsigned i = 0; i < depth; i++) {
        share->counts[i] = counts[i];
        share->posted_bytes *= counts[i];
    }
    share->posted = mr_openmp_take(share->posted_bytes);
}

/* The byte of an iteration; NULL: there is none. */
static char *byte_of(const mr_gomp_share *share, const uint64_t *iteration)
{
    uint64_t at = 0;
    if (share == NULL || share->posted == NULL) {
        return NULL;
    }
    for (unsigned i = 0; i < share->depth; i++) {
        if (iteration[i] >= share->counts[i]) {
            return NULL;
        }
        at = at * share->counts[i] + iteration[i];
    }
    return share->posted + at;
}

static bool begin(mr_thread *thread, unsigned depth, const uint64_t *counts, int kind,
                  uint64_t chunk, uint64_t *first, uint64_t *behind, uintptr_t *reductions)
{
    mr_gomp_share *share;
    if (reductions != NULL) {
        mr_gomp_unseen();
    }
    bool has = mr_gomp_loop(thread, counts[0], kind, chunk, &share, first, behind);
    set_nest(share, depth, counts);
    mr_leave(thread);
    return has;
}

#define BEGINS(name, type, kind)                                                                   \
    MR_EXPORT bool name(unsigned depth, const uint64_t *counts, type chunk, uint64_t *first,       \
                        uint64_t *behind);                                                         \
    bool name(unsigned depth, const uint64_t *counts, type chunk, uint64_t *first,                 \
              uint64_t *behind)                                                                    \
    {                                                                                              \
        mr_thread *thread = MR_GOMP_ENTER();                                                       \
        return thread != NULL                                                                      \
                   ? begin(thread, depth, counts, kind, (uint64_t)chunk, first, behind, NULL)      \
                   : MR_REAL(name)(depth, counts, chunk, first, behind);                           \
    }
#define BEGINS_BY_PROGRAM(name)                                                                    \
    MR_EXPORT bool name(unsigned depth, const uint64_t *counts, uint64_t *first,                   \
                        uint64_t *behind);                                                         \
    bool name(unsigned depth, const uint64_t *counts, uint64_t *first, uint64_t *behind)           \
    {                                                                                              \
        mr_thread *thread = MR_GOMP_ENTER();                                                       \
        return thread != NULL                                                                      \
                   ? begin(thread, depth, counts, MR_GOMP_BY_PROGRAM, 0, first, behind, NULL)      \
                   : MR_REAL(name)(depth, counts, first, behind);                                  \
    }
#define BEGINS_WITH(name, type)                                                                    \
    MR_EXPORT bool name(unsigned depth, const uint64_t *counts, long kind, type chunk,             \
                        uint64_t *first, uint64_t *behind, uintptr_t *reductions, void **memory);  \
    bool name(unsigned depth, const uint64_t *counts, long kind, type chunk, uint64_t *first,      \
              uint64_t *behind, uintptr_t *reductions, void **memory)                              \
    {                                                                                              \
        mr_thread *thread = MR_GOMP_ENTER();                                                       \
        if (thread != NULL && memory != NULL) {                                                    \
            mr_gomp_unseen();                                                                      \
        }                                                                                          \
        return thread != NULL                                                                      \
                   ? begin(thread, depth, counts, (int)kind, (uint64_t)chunk, first, behind,       \
                           reductions)                                                             \
                   : MR_REAL(name)(depth, counts, kind, chunk, first, behind, reductions, memory); \
    }
BEGINS(GOMP_loop_doacross_static_start, long, MR_GOMP_STATIC)
BEGINS(GOMP_loop_doacross_dynamic_start, long, MR_GOMP_DYNAMIC)
BEGINS(GOMP_loop_doacross_guided_start, long, MR_GOMP_GUIDED)
BEGINS(GOMP_loop_ull_doacross_static_start, uint64_t, MR_GOMP_STATIC)
BEGINS(GOMP_loop_ull_doacross_dynamic_start, uint64_t, MR_GOMP_DYNAMIC)
BEGINS(GOMP_loop_ull_doacross_guided_start, uint64_t, MR_GOMP_GUIDED)
BEGINS_BY_PROGRAM(GOMP_loop_doacross_runtime_start)
BEGINS_BY_PROGRAM(GOMP_loop_ull_doacross_runtime_start)
BEGINS_WITH(GOMP_loop_doacross_start, long)
BEGINS_WITH(GOMP_loop_ull_doacross_start, uint64_t)
#undef BEGINS
#undef BEGINS_BY_PROGRAM
#undef BEGINS_WITH

static void post(mr_thread *thread, const uint64_t *iteration, uintptr_t code)
{
    const mr_gomp_self *self = mr_gomp_now();
    char *posted = byte_of(self->share, iteration);
    mr_yield(thread);
    if (posted != NULL && self->team->size > 1) {
        mr_gomp_order(self->team, MR_LOG_BEFORE, posted, code);
        *posted = 1;
        mr_wake_key(self->share);
    }
    mr_leave(thread);
}

static void wait_for(mr_thread *thread, const uint64_t *iteration, uintptr_t code)
{
    const mr_gomp_self *self = mr_gomp_now();
    const char *posted = byte_of(self->share, iteration);
    mr_yield(thread);
    if (posted != NULL && self->team->size > 1) {
        while (*posted == 0) {
            mr_gomp_wait(thread, self->team, self->share, code);
        }
        if (mr_steers()) {
            mr_steer_stop(thread, MR_STOP_CALL);
        }
        mr_gomp_order(self->team, MR_LOG_AFTER, posted, code);
    }
    mr_leave(thread);
}

/* As many numbers as the loop is deep. */
#define SYNCHRONISES(posts, waits, type)                                                           \
    MR_EXPORT void posts(const uint64_t *iteration);                                               \
    void posts(const uint64_t *iteration)                                                          \
    {                                                                                              \
        mr_thread *thread = MR_GOMP_ENTER();                                                       \
        if (thread == NULL) {                                                                      \
            MR_REAL(posts)(iteration);                                                             \
        } else {                                                                                   \
            post(thread, iteration, MR_CALLER);                                                    \
        }                                                                                          \
    }                                                                                              \
    MR_EXPORT void waits(type first, ...);                                                         \
    void waits(type first, ...)                                                                    \
    {                                                                                              \
        uint64_t all[MR_GOMP_DEPTH] = {(uint64_t)first};                                           \
        mr_thread *thread = MR_GOMP_ENTER();                                                       \
        const mr_gomp_share *share = thread != NULL ? mr_gomp_now()->share : NULL;                 \
        unsigned depth = share != NULL ? share->depth : MR_GOMP_DEPTH;                             \
        va_list others;                                                                            \
        va_start(others, first);                                                                   \
        for (unsigned i = 1; i < depth; i++) {                                                     \
            all[i] = (uint64_t)va_arg(others, type);                                               \
        }                                                                                          \
        va_end(others);                                                                            \
        if (thread == NULL) {                                                                      \
            MR_REAL(waits)                                                                         \
            ((type)all[0], (type)all[1], (type)all[2], (type)all[3], (type)all[4], (type)all[5],   \
             (type)all[6], (type)all[7]);                                                          \
        } else {                                                                                   \
            wait_for(thread, all, MR_CALLER);                                                      \
        }                                                                                          \
    }
SYNCHRONISES(GOMP_doacross_post, GOMP_doacross_wait, long)
SYNCHRONISES(GOMP_doacross_ull_post, GOMP_doacross_ull_wait, unsigned long long)
#undef SYNCHRONISES
