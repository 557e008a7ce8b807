/*
 * Loops of OpenMP that are shared out in a team. A chunk of a dynamic or guided loop goes to a thread by its number alone (kmpc.h).
 */
#include "kmpc.h"

/* As compiled code names schedules (kmp.h of LLVM). */
enum {
    STATIC_CHUNKED = 33,
    STATIC = 34,
    RUNTIME = 37,
    AUTO = 38,
    STATIC_BALANCED_CHUNKED = 45,
    ORDERED = 65, /* from here on: the same, ordered */
    ORDERED_STATIC = 66,
    ORDERED_RUNTIME = 69,
    ORDERED_AUTO = 70,
    DISTRIBUTE_CHUNKED = 91,
    DISTRIBUTE = 92,
    TO_ORDERED = 32,
    KIND = 0xffff, /* above: modifiers */
};

/* Iterations of a loop from `lower` to `upper`, both included. */
static uint64_t trip_of(int64_t lower, int64_t upper, int64_t stride, bool is_unsigned)
{
    bool is_empty = is_unsigned ? (stride > 0 ? (uint64_t)lower > (uint64_t)upper
                                              : (uint64_t)lower < (uint64_t)upper)
                                : (stride > 0 ? lower > upper : lower < upper);
    if (is_empty || stride == 0) {
        return 0;
    }
    return stride > 0 ? ((uint64_t)upper - (uint64_t)lower) / (uint64_t)stride + 1
                      : ((uint64_t)lower - (uint64_t)upper) / (0 - (uint64_t)stride) + 1;
}

/* ---- static loops ---- */

typedef struct share {
    int64_t lower, upper, step;
    bool is_last, is_empty;
} share;

/* What thread `tid` of `size` gets first; `step` leads to what it gets next. */
static share share_of(int kind, int tid, int size, share all, int64_t stride, int64_t chunk,
                      uint64_t trip)
{
    uint64_t self = (uint64_t)tid, count = (uint64_t)size;
    share got = {.step = 0};
    if (kind == STATIC_BALANCED_CHUNKED) { /* of simd: whole chunks, one for each thread */
        uint64_t each = (trip + count - 1) / count, width = chunk > 1 ? (uint64_t)chunk : 1;
        chunk = (int64_t)((each + width - 1) / width * width);
    }
    if (kind == STATIC_CHUNKED || kind == DISTRIBUTE_CHUNKED || kind == STATIC_BALANCED_CHUNKED) {
        uint64_t width = chunk > 1 ? (uint64_t)chunk : 1;
        got.lower = all.lower + (int64_t)(self * width) * stride;
        got.upper = got.lower + (int64_t)(width - 1) * stride;
        got.step = (int64_t)(count * width) * stride;
        got.is_last = (trip - 1) / width % count == self;
        got.is_empty = self * width >= trip;
    } else {
        uint64_t each = trip / count, more = trip % count;
        uint64_t first = self * each + (self < more ? self : more);
        uint64_t width = each + (self < more);
        got.lower = all.lower + (int64_t)first * stride;
        got.upper = got.lower + (int64_t)(width - 1) * stride;
        got.step = (int64_t)trip * stride;
        got.is_last = width > 0 && first + width == trip;
        got.is_empty = width == 0;
    }
    return got;
}

/* The thread's number and the size of its team; a league has one team. */
static void place_of(int kind, int *tid, int *size)
{
    const mr_kmpc_thread *self = mr_kmpc_current();
    bool is_alone = self == NULL || kind == DISTRIBUTE || kind == DISTRIBUTE_CHUNKED;
    *tid = is_alone ? 0 : self->member->tid;
    *size = is_alone ? 1 : self->member->team->size;
}

#define STATIC_INIT(name, type, signed_type, is_unsigned)                                          \
    MR_EXPORT void name(void *place, int number, int kind, int *last, type *lower, type *upper,    \
                        signed_type *step, signed_type stride, signed_type chunk);                 \
    void name(void *place, int number, int kind, int *last, type *lower, type *upper,              \
              signed_type *step, signed_type stride, signed_type chunk)                            \
    {                                                                                              \
        if (!mr_kmpc_is_ours()) {                                                                  \
            MR_REAL(name)                                                                          \
            (place, MR_THEIRS(number), kind, last, lower, upper, step, stride, chunk);             \
            return;                                                                                \
        }                                                                                          \
        int tid, size;                                                                             \
        place_of(kind &KIND, &tid, &size);                                                         \
        uint64_t trip = trip_of((int64_t)*lower, (int64_t)*upper, (int64_t)stride, is_unsigned);   \
        share got = {.is_empty = true};                                                            \
        if (trip > 0) {                                                                            \
            share all = {.lower = (int64_t)*lower, .upper = (int64_t)*upper};                      \
            got = share_of(kind & KIND, tid, size, all, (int64_t)stride, (int64_t)chunk, trip);    \
        }                                                                                          \
        if (last != NULL) {                                                                        \
            *last = got.is_last;                                                                   \
        }                                                                                          \
        if (trip == 0) {                                                                           \
            *step = stride;                                                                        \
            return;                                                                                \
        }                                                                                          \
        *step = (signed_type)got.step;                                                             \
        if (got.is_empty) { /* the loop over it does nothing, and none of those that follow */     \
            *lower = (type)(*upper + (type)stride);                                                \
            return;                                                                                \
        }                                                                                          \
        *lower = (type)got.lower;                                                                  \
        *upper = (type)got.upper;                                                                  \
    }
STATIC_INIT(__kmpc_for_static_init_4, int32_t, int32_t, false)
STATIC_INIT(__kmpc_for_static_init_4u, uint32_t, int32_t, true)
STATIC_INIT(__kmpc_for_static_init_8, int64_t, int64_t, false)
STATIC_INIT(__kmpc_for_static_init_8u, uint64_t, int64_t, true)
#undef STATIC_INIT

MR_EXPORT void __kmpc_for_static_fini(void *place, int number);
void __kmpc_for_static_fini(void *place, int number)
{
    if (!mr_kmpc_is_ours()) {
        MR_REAL(__kmpc_for_static_fini)(place, MR_THEIRS(number));
    }
}

/* A parallel loop within a league of one team: that gets all. */
#define DISTRIBUTE_INIT(name, type, signed_type, real)                                             \
    MR_EXPORT void name(void *place, int number, int kind, int *last, type *lower, type *upper,    \
                        type *upper_of_team, signed_type *step, signed_type stride,                \
                        signed_type chunk);                                                        \
    void name(void *place, int number, int kind, int *last, type *lower, type *upper,              \
              type *upper_of_team, signed_type *step, signed_type stride, signed_type chunk)       \
    {                                                                                              \
        if (!mr_kmpc_is_ours()) {                                                                  \
            MR_REAL(name)                                                                          \
            (place, MR_THEIRS(number), kind, last, lower, upper, upper_of_team, step, stride,      \
             chunk);                                                                               \
            return;                                                                                \
        }                                                                                          \
        *upper_of_team = *upper;                                                                   \
        real(place, MR_THEIRS(number), kind, last, lower, upper, step, stride, chunk);             \
    }
DISTRIBUTE_INIT(__kmpc_dist_for_static_init_4, int32_t, int32_t, __kmpc_for_static_init_4)
DISTRIBUTE_INIT(__kmpc_dist_for_static_init_4u, uint32_t, int32_t, __kmpc_for_static_init_4u)
DISTRIBUTE_INIT(__kmpc_dist_for_static_init_8, int64_t, int64_t, __kmpc_for_static_init_8)
DISTRIBUTE_INIT(__kmpc_dist_for_static_init_8u, uint64_t, int64_t, __kmpc_for_static_init_8u)
#undef DISTRIBUTE_INIT

/* ---- loops that all members know of ---- */

static mr_kmpc_loop *join_loop(mr_kmpc_team *team, uint64_t number)
{
    mr_kmpc_loop *at = team->loops;
    while (at != NULL && at->number != number) {
        at = at->next;
    }
    if (at == NULL) {
        at = mr_openmp_take(sizeof *at);
        *at = (mr_kmpc_loop){.number = number,
                             .left = team->size,
                             .token = mr_openmp_places(1),
                             .next = team->loops};
        team->loops = at;
    }
    return at;
}

static void leave_loop(mr_kmpc_team *team, mr_kmpc_loop *loop)
{
    if (--loop->left == 0) {
        mr_kmpc_loop **at = &team->loops;
        while (*at != loop) {
            at = &(*at)->next;
        }
        *at = loop->next;
        mr_openmp_give(loop, sizeof *loop);
    }
}

/* ---- dynamic, guided, runtime and ordered loops ---- */

enum { DOACROSS_NUMBERS = 1u << 30 }; /* of loops of another kind */

static void begin_loop(const mr_kmpc_thread *thread, int kind, int64_t lower, int64_t stride,
                       int64_t chunk, uint64_t trip)
{
    mr_kmpc_member *self = thread->member;
    const mr_kmpc_settings *settings = &thread->settings;
    uint64_t size = (uint64_t)self->team->size;
    bool is_ordered = kind >= ORDERED && kind <= ORDERED_AUTO;
    kind -= is_ordered ? TO_ORDERED : 0;
    if (kind == RUNTIME) {
        int schedule = settings->schedule & KIND;
        bool is_static = schedule <= 1 || schedule == 4;
        kind = is_static ? (settings->chunk > 0 ? STATIC_CHUNKED : STATIC) : 0;
        chunk = settings->chunk;
    }
    uint64_t each = (trip + size - 1) / size;
    bool is_whole = kind == STATIC || kind == AUTO;
    self->loop.chunk = is_whole ? (each > 0 ? each : 1) : chunk > 0 ? (uint64_t)chunk : 1;
    self->loop.trip = trip;
    self->loop.lower = lower;
    self->loop.stride = stride;
    self->loop.next = (uint64_t)self->tid * self->loop.chunk;
    self->loop.is_ordered = is_ordered;
    self->loop.has_bumped = false;
    self->loop.shared = NULL;
    if (is_ordered) {
        self->loop.shared = join_loop(self->team, self->loops++);
    }
}

static void wait_for_order(mr_thread *thread, const mr_kmpc_loop *shared, uint64_t turn,
                           uintptr_t code)
{
    while (shared->next_ordered < turn) {
        mr_kmpc_block(thread, shared, false, code);
    }
    mr_kmpc_resume(thread);
}

static void next_in_order(mr_kmpc_loop *shared)
{
    shared->next_ordered++;
    mr_wake_key(shared);
}

/* Its next chunk; false: there is none. */
static bool next_chunk(mr_thread *thread, mr_kmpc_member *self, int *last, int64_t *lower,
                       int64_t *upper)
{
    uint64_t at = self->loop.next;
    mr_yield(thread);
    if (at >= self->loop.trip) {
        if (self->loop.shared != NULL) {
            leave_loop(self->team, self->loop.shared);
            self->loop.shared = NULL;
        }
        return false;
    }
    uint64_t left = self->loop.trip - at;
    uint64_t count = left < self->loop.chunk ? left : self->loop.chunk;
    self->loop.ordered = at;
    self->loop.next = at + self->loop.chunk * (uint64_t)self->team->size;
    *lower = self->loop.lower + (int64_t)at * self->loop.stride;
    *upper = *lower + (int64_t)(count - 1) * self->loop.stride;
    if (last != NULL) {
        *last = count == left;
    }
    return true;
}

#define DISPATCH(suffix, type, signed_type, is_unsigned)                                           \
    MR_EXPORT void __kmpc_dispatch_init_##suffix(void *place, int number, int kind, type lower,    \
                                                 type upper, signed_type stride,                   \
                                                 signed_type chunk);                               \
    void __kmpc_dispatch_init_##suffix(void *place, int number, int kind, type lower, type upper,  \
                                       signed_type stride, signed_type chunk)                      \
    {                                                                                              \
        mr_thread *thread;                                                                         \
        if (!mr_kmpc_is_ours()) {                                                                  \
            MR_REAL(__kmpc_dispatch_init_##suffix)                                                 \
            (place, MR_THEIRS(number), kind, lower, upper, stride, chunk);                         \
        } else if ((thread = mr_enter()) != NULL) {                                                \
            uint64_t trip = trip_of((int64_t)lower, (int64_t)upper, stride, is_unsigned);          \
            begin_loop(mr_kmpc_self(thread), kind &KIND, (int64_t)lower, stride, chunk, trip);     \
            mr_leave(thread);                                                                      \
        }                                                                                          \
    }                                                                                              \
    MR_EXPORT int __kmpc_dispatch_next_##suffix(void *place, int number, int *last, type *lower,   \
                                                type *upper, signed_type *stride);                 \
    int __kmpc_dispatch_next_##suffix(void *place, int number, int *last, type *lower,             \
                                      type *upper, signed_type *stride)                            \
    {                                                                                              \
        mr_thread *thread;                                                                         \
        int64_t first = 0, end = 0;                                                                \
        bool any = false;                                                                          \
        if (!mr_kmpc_is_ours()) {                                                                  \
            return MR_REAL(__kmpc_dispatch_next_##suffix)(place, MR_THEIRS(number), last, lower,   \
                                                          upper, stride);                          \
        }                                                                                          \
        if ((thread = mr_enter()) != NULL) {                                                       \
            mr_kmpc_member *self = mr_kmpc_self(thread)->member;                                   \
            any = next_chunk(thread, self, last, &first, &end);                                    \
            if (any) {                                                                             \
                *lower = (type)first;                                                              \
                *upper = (type)end;                                                                \
                *stride = (signed_type)self->loop.stride;                                          \
            }                                                                                      \
            mr_leave(thread);                                                                      \
        }                                                                                          \
        return any;                                                                                \
    }                                                                                              \
    MR_EXPORT void __kmpc_dispatch_fini_##suffix(void *place, int number);                         \
    void __kmpc_dispatch_fini_##suffix(void *place, int number)                                    \
    {                                                                                              \
        if (mr_kmpc_is_ours()) {                                                                   \
            end_iteration(MR_CALLER);                                                              \
        } else {                                                                                   \
            MR_REAL(__kmpc_dispatch_fini_##suffix)(place, MR_THEIRS(number));                      \
        }                                                                                          \
    }

/* Of an ordered loop: when it was not in an ordered region, its turn comes without. */
static void end_iteration(uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_kmpc_member *self = mr_kmpc_self(thread)->member;
        if (self->loop.is_ordered && self->loop.shared != NULL && !self->loop.has_bumped) {
            wait_for_order(thread, self->loop.shared, self->loop.ordered, code);
            next_in_order(self->loop.shared);
        }
        self->loop.has_bumped = false;
        self->loop.ordered++;
        mr_leave(thread);
    }
}

DISPATCH(4, int32_t, int32_t, false)
DISPATCH(4u, uint32_t, int32_t, true)
DISPATCH(8, int64_t, int64_t, false)
DISPATCH(8u, uint64_t, int64_t, true)
#undef DISPATCH

MR_EXPORT void __kmpc_ordered(void *place, int number);
void __kmpc_ordered(void *place, int number)
{
    mr_thread *thread;
    if (!mr_kmpc_is_ours()) {
        MR_REAL(__kmpc_ordered)(place, MR_THEIRS(number));
    } else if ((thread = mr_enter()) != NULL) {
        mr_kmpc_member *self = mr_kmpc_self(thread)->member;
        if (self->loop.shared != NULL) {
            wait_for_order(thread, self->loop.shared, self->loop.ordered, MR_CALLER);
            mr_kmpc_after(self->loop.shared->token, MR_CALLER);
        }
        mr_leave(thread);
    }
}

MR_EXPORT void __kmpc_end_ordered(void *place, int number);
void __kmpc_end_ordered(void *place, int number)
{
    mr_thread *thread;
    if (!mr_kmpc_is_ours()) {
        MR_REAL(__kmpc_end_ordered)(place, MR_THEIRS(number));
    } else if ((thread = mr_enter()) != NULL) {
        mr_kmpc_member *self = mr_kmpc_self(thread)->member;
        if (self->loop.shared != NULL) {
            mr_yield(thread);
            mr_kmpc_before(self->loop.shared->token, MR_CALLER);
            self->loop.has_bumped = true;
            next_in_order(self->loop.shared);
        }
        mr_leave(thread);
    }
}

/* ---- doacross: an iteration waits for one before it ---- */

MR_EXPORT void __kmpc_doacross_init(void *place, int number, int dimensions, const int64_t *bounds);
void __kmpc_doacross_init(void *place, int number, int dimensions, const int64_t *bounds)
{
    mr_thread *thread;
    if (!mr_kmpc_is_ours()) {
        MR_REAL(__kmpc_doacross_init)(place, MR_THEIRS(number), dimensions, bounds);
    } else if ((thread = mr_enter()) != NULL) {
        mr_kmpc_member *self = mr_kmpc_self(thread)->member;
        mr_kmpc_loop *shared = join_loop(self->team, DOACROSS_NUMBERS + self->doacrosses++);
        self->doacross.shared = shared;
        self->doacross.dimensions = dimensions;
        self->doacross.bounds = mr_openmp_take((size_t)dimensions * 3 * sizeof *bounds);
        self->doacross.count = 1;
        for (int i = 0; i < dimensions * 3; i++) {
            self->doacross.bounds[i] = bounds[i];
        }
        for (int i = 0; i < dimensions; i++) {
            const int64_t *one = &bounds[(size_t)i * 3];
            self->doacross.count *= trip_of(one[0], one[1], one[2], false);
        }
        if (shared->posted == NULL && self->doacross.count > 0) {
            shared->posted = mr_openmp_places(self->doacross.count);
        }
        mr_leave(thread);
    }
}

/* The byte of an iteration; NULL: there is no such one. */
static char *posted_of(const mr_kmpc_member *self, const int64_t *iteration)
{
    uint64_t at = 0;
    for (int i = 0; i < self->doacross.dimensions; i++) {
        const int64_t *one = self->doacross.bounds + (size_t)i * 3;
        bool is_up = one[2] > 0;
        if (is_up ? iteration[i] < one[0] || iteration[i] > one[1]
                  : iteration[i] > one[0] || iteration[i] < one[1]) {
            return NULL;
        }
        at = at * trip_of(one[0], one[1], one[2], false) +
             (uint64_t)((iteration[i] - one[0]) / one[2]);
    }
    return self->doacross.shared->posted != NULL ? self->doacross.shared->posted + at : NULL;
}

MR_EXPORT void __kmpc_doacross_wait(void *place, int number, const int64_t *iteration);
void __kmpc_doacross_wait(void *place, int number, const int64_t *iteration)
{
    mr_thread *thread;
    if (!mr_kmpc_is_ours()) {
        MR_REAL(__kmpc_doacross_wait)(place, MR_THEIRS(number), iteration);
    } else if ((thread = mr_enter()) != NULL) {
        const mr_kmpc_member *self = mr_kmpc_self(thread)->member;
        const char *posted = posted_of(self, iteration);
        mr_yield(thread);
        if (posted != NULL) {
            while (*posted == 0) {
                mr_kmpc_block(thread, self->doacross.shared, false, MR_CALLER);
            }
            mr_kmpc_resume(thread);
            mr_kmpc_after(posted, MR_CALLER);
        }
        mr_leave(thread);
    }
}

MR_EXPORT void __kmpc_doacross_post(void *place, int number, const int64_t *iteration);
void __kmpc_doacross_post(void *place, int number, const int64_t *iteration)
{
    mr_thread *thread;
    if (!mr_kmpc_is_ours()) {
        MR_REAL(__kmpc_doacross_post)(place, MR_THEIRS(number), iteration);
    } else if ((thread = mr_enter()) != NULL) {
        const mr_kmpc_member *self = mr_kmpc_self(thread)->member;
        char *posted = posted_of(self, iteration);
        mr_yield(thread);
        if (posted != NULL) {
            mr_kmpc_before(posted, MR_CALLER);
            *posted = 1;
            mr_wake_key(self->doacross.shared);
        }
        mr_leave(thread);
    }
}

MR_EXPORT void __kmpc_doacross_fini(void *place, int number);
void __kmpc_doacross_fini(void *place, int number)
{
    mr_thread *thread;
    if (!mr_kmpc_is_ours()) {
        MR_REAL(__kmpc_doacross_fini)(place, MR_THEIRS(number));
    } else if ((thread = mr_enter()) != NULL) {
        mr_kmpc_member *self = mr_kmpc_self(thread)->member;
        leave_loop(self->team, self->doacross.shared);
        mr_openmp_give(self->doacross.bounds,
                       (size_t)self->doacross.dimensions * 3 * sizeof *self->doacross.bounds);
        mr_leave(thread);
    }
}
