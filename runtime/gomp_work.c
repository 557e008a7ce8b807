/* What the members of a team share: loops, sections, singles, and parts of loops in order (gomp.h). */
#include "gomp.h"

#include "steer.h"
#include "writer.h"

/* A flag of the kind of a loop. */
enum { MONOTONIC = (int)(1u << 31) };

/* Iterations of an ordered loop that ended before others that come first. */
typedef struct mr_gomp_done {
    struct mr_gomp_done *next;
    uint64_t first, behind;
} done;

/* ---- shares ---- */

mr_gomp_share *mr_gomp_share_begin(mr_gomp_self *self, bool *is_first)
{
    mr_gomp_team *team = self->team;
    mr_gomp_share **at = &team->shares;
    uint64_t number = ++self->shares;
    while (*at != NULL && (*at)->number != number) {
        at = &(*at)->next;
    }
    *is_first = *at == NULL;
    if (*is_first) {
        *at = mr_openmp_take(sizeof **at);
        (*at)->number = number;
        (*at)->place = mr_openmp_places(sizeof(uint64_t));
    }
    self->share = *at;
    self->trip = self->given = self->first = self->behind = self->ordered = 0;
    return *at;
}

/* Bytes for doacross loops, kept by their size. */
static void give_posted(mr_gomp_share *share)
{
    if (share->posted != NULL) {
        mr_openmp_give(share->posted, share->posted_bytes);
    }
}

void mr_gomp_share_end(mr_gomp_self *self)
{
    mr_gomp_share *share = self->share, **at = &self->team->shares;
    self->share = NULL;
    if (share == NULL || ++share->left < self->team->size) {
        return;
    }
    while (*at != share) {
        at = &(*at)->next;
    }
    *at = share->next;
    give_posted(share);
    if (share->copied_bytes != 0) {
        mr_write_object(MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, share->copied, 0, MR_LOG_TAKEN_GONE,
                        share->copied_bytes);
        mr_openmp_give(share->copied, share->copied_bytes);
    }
    mr_openmp_give(share, sizeof *share);
}

/* ---- loops ---- */

/* A loop as the program says it. */
typedef struct range {
    uint64_t start, end, step;
    bool is_signed, is_up;
} range;

static uint64_t iterations(const range *loop)
{
    uint64_t width = loop->is_up ? loop->end - loop->start : loop->start - loop->end;
    uint64_t step = loop->is_up ? loop->step : -loop->step;
    bool is_empty = loop->is_signed
                        ? (loop->is_up ? (int64_t)loop->start >= (int64_t)loop->end
                                       : (int64_t)loop->start <= (int64_t)loop->end)
                        : (loop->is_up ? loop->start >= loop->end : loop->start <= loop->end);
    return is_empty ? 0 : (width + step - 1) / step;
}

static void set_loop(mr_gomp_share *share, const range *loop, int kind, uint64_t chunk)
{
    kind &= ~MONOTONIC;
    if (kind == MR_GOMP_BY_PROGRAM) {
        int asked;
        mr_gomp_schedule(&kind, &asked);
        kind &= ~MONOTONIC;
        chunk = asked > 0 ? (uint64_t)asked : 0;
    }
    share->kind = kind == MR_GOMP_AUTO ? MR_GOMP_STATIC : kind;
    share->start = loop->start;
    share->step = loop->step;
    share->count = iterations(loop);
    share->chunk = chunk == 0 && share->kind != MR_GOMP_STATIC ? 1 : chunk;
}

static bool next_static(mr_gomp_self *self, const mr_gomp_share *share)
{
    uint64_t size = self->team->size, number = self->number;
    if (share->chunk == 0) {
        uint64_t each = share->count / size, more = share->count % size;
        if (self->trip++ > 0) {
            return false;
        }
        self->first = number * each + (number < more ? number : more);
        self->behind = self->first + each + (number < more);
        return self->first < self->behind;
    }
    uint64_t first = (self->trip++ * size + number) * share->chunk;
    if (first >= share->count) {
        return false;
    }
    self->first = first;
    self->behind = share->count - first < share->chunk ? share->count : first + share->chunk;
    return true;
}

/* Who gets the part with this number: it depends on nothing else, so nothing orders what is done in two parts. */
static bool is_mine(const mr_gomp_self *self, uint64_t part)
{
    return (part + self->share->number + mr_gomp_turn()) % self->team->size == self->number;
}

/* The next part of the calling thread, as long as what is left says; the parts before it are those of others. */
static bool next_dynamic(mr_gomp_self *self, const mr_gomp_share *share)
{
    uint64_t size = self->team->size;
    bool has = false;
    while (!has && self->given < share->count) {
        uint64_t left = share->count - self->given, part = share->chunk;
        if (share->kind == MR_GOMP_GUIDED) {
            uint64_t each = (left + size - 1) / size;
            part = each > part ? each : part;
        }
        part = part > left ? left : part;
        has = is_mine(self, self->trip++);
        self->first = self->given;
        self->behind = self->given += part;
    }
    return has;
}

static void end_ordered(mr_gomp_self *self);

/* The next iterations of the calling thread. */
static bool next(mr_thread *thread, uint64_t *first, uint64_t *behind)
{
    mr_gomp_self *self = mr_gomp_now();
    mr_gomp_share *share = self->share;
    if (share->is_ordered) {
        end_ordered(self);
    }
    self->ordered = 0;
    mr_yield(thread);
    bool has = share->kind == MR_GOMP_STATIC ? next_static(self, share) : next_dynamic(self, share);
    if (has) {
        *first = share->start + self->first * share->step;
        *behind = share->start + self->behind * share->step;
    } else {
        self->first = self->behind = 0;
    }
    return has;
}

/* Memory that the members share, zeroed; its bytes are where its address is to be. */
static void share_memory(mr_gomp_share *share, bool is_first, void **memory, uintptr_t code)
{
    if (memory == NULL) {
        return;
    }
    if (is_first) {
        share->copied_bytes = (uintptr_t)*memory;
        share->copied = mr_openmp_take(share->copied_bytes);
        mr_write_object(MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, share->copied, code, MR_LOG_GIVEN_PLAIN,
                        share->copied_bytes);
    }
    *memory = share->copied;
}

static bool begin_loop(mr_thread *thread, const range *loop, int kind, uint64_t chunk,
                       bool is_ordered, uint64_t *first, uint64_t *behind, uintptr_t *reductions,
                       void **memory, uintptr_t code)
{
    bool is_first, has = true;
    mr_yield(thread);
    mr_gomp_share *share = mr_gomp_share_begin(mr_gomp_now(), &is_first);
    if (is_first) {
        set_loop(share, loop, kind, chunk);
        share->is_ordered = is_ordered;
    }
    if (reductions != NULL) {
        mr_gomp_unseen();
    }
    share_memory(share, is_first, memory, code);
    if (first != NULL) {
        has = next(thread, first, behind);
    }
    mr_leave(thread);
    return has;
}

bool mr_gomp_loop(mr_thread *thread, uint64_t count, int kind, uint64_t chunk,
                  mr_gomp_share **share, uint64_t *first, uint64_t *behind)
{
    bool is_first;
    range loop = {0, count, 1, false, true};
    *share = mr_gomp_share_begin(mr_gomp_now(), &is_first);
    if (is_first) {
        set_loop(*share, &loop, kind, chunk);
    }
    return first == NULL || next(thread, first, behind);
}

static inline range signed_range(long start, long end, long step)
{
    return (range){(uint64_t)start, (uint64_t)end, (uint64_t)step, true, step > 0};
}

void mr_gomp_shape(mr_gomp_share *shape, long start, long end, long step, int kind, long chunk)
{
    range loop = signed_range(start, end, step);
    set_loop(shape, &loop, kind, (uint64_t)chunk);
}

#define BEGINS(name, kind, ordered)                                                                \
    MR_EXPORT bool GOMP_loop_##name##_start(long start, long end, long step, long chunk,           \
                                            uint64_t *first, uint64_t *behind);                    \
    bool GOMP_loop_##name##_start(long start, long end, long step, long chunk, uint64_t *first,    \
                                  uint64_t *behind)                                                \
    {                                                                                              \
        mr_thread *thread = MR_GOMP_ENTER();                                                       \
        if (thread == NULL) {                                                                      \
            return MR_REAL(GOMP_loop_##name##_start)(start, end, step, chunk, first, behind);      \
        }                                                                                          \
        range loop = signed_range(start, end, step);                                               \
        return begin_loop(thread, &loop, kind, (uint64_t)chunk, ordered, first, behind, NULL,      \
                          NULL, MR_CALLER);                                                        \
    }                                                                                              \
    MR_EXPORT bool GOMP_loop_ull_##name##_start(bool is_up, uint64_t start, uint64_t end,          \
                                                uint64_t step, uint64_t chunk, uint64_t *first,    \
                                                uint64_t *behind);                                 \
    bool GOMP_loop_ull_##name##_start(bool is_up, uint64_t start, uint64_t end, uint64_t step,     \
                                      uint64_t chunk, uint64_t *first, uint64_t *behind)           \
    {                                                                                              \
        mr_thread *thread = MR_GOMP_ENTER();                                                       \
        if (thread == NULL) {                                                                      \
            return MR_REAL(GOMP_loop_ull_##name##_start)(is_up, start, end, step, chunk, first,    \
                                                         behind);                                  \
        }                                                                                          \
        range loop = {start, end, step, false, is_up};                                             \
        return begin_loop(thread, &loop, kind, chunk, ordered, first, behind, NULL, NULL,          \
                          MR_CALLER);                                                              \
    }
#define BEGINS_BY_PROGRAM(name, ordered)                                                           \
    MR_EXPORT bool GOMP_loop_##name##_start(long start, long end, long step, uint64_t *first,      \
                                            uint64_t *behind);                                     \
    bool GOMP_loop_##name##_start(long start, long end, long step, uint64_t *first,                \
                                  uint64_t *behind)                                                \
    {                                                                                              \
        mr_thread *thread = MR_GOMP_ENTER();                                                       \
        if (thread == NULL) {                                                                      \
            return MR_REAL(GOMP_loop_##name##_start)(start, end, step, first, behind);             \
        }                                                                                          \
        range loop = signed_range(start, end, step);                                               \
        return begin_loop(thread, &loop, MR_GOMP_BY_PROGRAM, 0, ordered, first, behind, NULL,      \
                          NULL, MR_CALLER);                                                        \
    }                                                                                              \
    MR_EXPORT bool GOMP_loop_ull_##name##_start(bool is_up, uint64_t start, uint64_t end,          \
                                                uint64_t step, uint64_t *first, uint64_t *behind); \
    bool GOMP_loop_ull_##name##_start(bool is_up, uint64_t start, uint64_t end, uint64_t step,     \
                                      uint64_t *first, uint64_t *behind)                           \
    {                                                                                              \
        mr_thread *thread = MR_GOMP_ENTER();                                                       \
        if (thread == NULL) {                                                                      \
            return MR_REAL(GOMP_loop_ull_##name##_start)(is_up, start, end, step, first, behind);  \
        }                                                                                          \
        range loop = {start, end, step, false, is_up};                                             \
        return begin_loop(thread, &loop, MR_GOMP_BY_PROGRAM, 0, ordered, first, behind, NULL,      \
                          NULL, MR_CALLER);                                                        \
    }
/* With what else a loop may have; `first` NULL: the program divides the loop itself. */
#define BEGINS_WITH(name, ordered)                                                                 \
    MR_EXPORT bool GOMP_loop_##name(long start, long end, long step, long kind, long chunk,        \
                                    uint64_t *first, uint64_t *behind, uintptr_t *reductions,      \
                                    void **memory);                                                \
    bool GOMP_loop_##name(long start, long end, long step, long kind, long chunk, uint64_t *first, \
                          uint64_t *behind, uintptr_t *reductions, void **memory)                  \
    {                                                                                              \
        mr_thread *thread = MR_GOMP_ENTER();                                                       \
        if (thread == NULL) {                                                                      \
            return MR_REAL(GOMP_loop_##name)(start, end, step, kind, chunk, first, behind,         \
                                             reductions, memory);                                  \
        }                                                                                          \
        range loop = signed_range(start, end, step);                                               \
        return begin_loop(thread, &loop, (int)kind, (uint64_t)chunk, ordered, first, behind,       \
                          reductions, memory, MR_CALLER);                                          \
    }                                                                                              \
    MR_EXPORT bool GOMP_loop_ull_##name(bool is_up, uint64_t start, uint64_t end, uint64_t step,   \
                                        long kind, uint64_t chunk, uint64_t *first,                \
                                        uint64_t *behind, uintptr_t *reductions, void **memory);   \
    bool GOMP_loop_ull_##name(bool is_up, uint64_t start, uint64_t end, uint64_t step, long kind,  \
                              uint64_t chunk, uint64_t *first, uint64_t *behind,                   \
                              uintptr_t *reductions, void **memory)                                \
    {                                                                                              \
        mr_thread *thread = MR_GOMP_ENTER();                                                       \
        if (thread == NULL) {                                                                      \
            return MR_REAL(GOMP_loop_ull_##name)(is_up, start, end, step, kind, chunk, first,      \
                                                 behind, reductions, memory);                      \
        }                                                                                          \
        range loop = {start, end, step, false, is_up};                                             \
        return begin_loop(thread, &loop, (int)kind, chunk, ordered, first, behind, reductions,     \
                          memory, MR_CALLER);                                                      \
    }
BEGINS(static, MR_GOMP_STATIC, false)
BEGINS(dynamic, MR_GOMP_DYNAMIC, false)
BEGINS(guided, MR_GOMP_GUIDED, false)
BEGINS(nonmonotonic_dynamic, MR_GOMP_DYNAMIC, false)
BEGINS(nonmonotonic_guided, MR_GOMP_GUIDED, false)
BEGINS(ordered_static, MR_GOMP_STATIC, true)
BEGINS(ordered_dynamic, MR_GOMP_DYNAMIC, true)
BEGINS(ordered_guided, MR_GOMP_GUIDED, true)
BEGINS_BY_PROGRAM(runtime, false)
BEGINS_BY_PROGRAM(nonmonotonic_runtime, false)
BEGINS_BY_PROGRAM(maybe_nonmonotonic_runtime, false)
BEGINS_BY_PROGRAM(ordered_runtime, true)
BEGINS_WITH(start, false)
BEGINS_WITH(ordered_start, true)
#undef BEGINS
#undef BEGINS_BY_PROGRAM
#undef BEGINS_WITH

#define GOES_ON(name)                                                                              \
    MR_EXPORT bool name(uint64_t *first, uint64_t *behind);                                        \
    bool name(uint64_t *first, uint64_t *behind)                                                   \
    {                                                                                              \
        mr_thread *thread = MR_GOMP_ENTER();                                                       \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name)(first, behind);                                                   \
        }                                                                                          \
        bool has = next(thread, first, behind);                                                    \
        mr_leave(thread);                                                                          \
        return has;                                                                                \
    }
#define BOTH_GO_ON(name)                                                                           \
    GOES_ON(GOMP_loop_##name##_next)                                                               \
    GOES_ON(GOMP_loop_ull_##name##_next)
BOTH_GO_ON(static)
BOTH_GO_ON(dynamic)
BOTH_GO_ON(guided)
BOTH_GO_ON(runtime)
BOTH_GO_ON(nonmonotonic_dynamic)
BOTH_GO_ON(nonmonotonic_guided)
BOTH_GO_ON(nonmonotonic_runtime)
BOTH_GO_ON(maybe_nonmonotonic_runtime)
BOTH_GO_ON(ordered_static)
BOTH_GO_ON(ordered_dynamic)
BOTH_GO_ON(ordered_guided)
BOTH_GO_ON(ordered_runtime)
#undef BOTH_GO_ON
#undef GOES_ON

/* ---- ends ---- */

#define ENDS(type, name, waits, result)                                                            \
    MR_EXPORT type name(void);                                                                     \
    type name(void)                                                                                \
    {                                                                                              \
        mr_thread *thread = MR_GOMP_ENTER();                                                       \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name)();                                                                \
        }                                                                                          \
        mr_gomp_share_end(mr_gomp_now());                                                          \
        if (waits) {                                                                               \
            mr_gomp_barrier(thread, MR_CALLER);                                                    \
        }                                                                                          \
        mr_leave(thread);                                                                          \
        return result;                                                                             \
    }
ENDS(void, GOMP_loop_end, true, )
ENDS(void, GOMP_loop_end_nowait, false, )
ENDS(bool, GOMP_loop_end_cancel, true, false)
ENDS(void, GOMP_sections_end, true, )
ENDS(void, GOMP_sections_end_nowait, false, )
ENDS(bool, GOMP_sections_end_cancel, true, false)
#undef ENDS

/* ---- sections ---- */

static unsigned next_section(mr_thread *thread)
{
    mr_gomp_self *self = mr_gomp_now();
    mr_yield(thread);
    return next_dynamic(self, self->share) ? (unsigned)self->behind : 0;
}

static unsigned begin_sections(mr_thread *thread, unsigned count, void **memory, uintptr_t code)
{
    bool is_first;
    mr_gomp_share *share = mr_gomp_share_begin(mr_gomp_now(), &is_first);
    share->kind = MR_GOMP_DYNAMIC;
    share->count = count;
    share->chunk = 1;
    share_memory(share, is_first, memory, code);
    unsigned number = next_section(thread);
    mr_leave(thread);
    return number;
}

MR_EXPORT unsigned GOMP_sections_start(unsigned count);
unsigned GOMP_sections_start(unsigned count)
{
    mr_thread *thread = MR_GOMP_ENTER();
    return thread != NULL ? begin_sections(thread, count, NULL, MR_CALLER)
                          : MR_REAL(GOMP_sections_start)(count);
}

MR_EXPORT unsigned GOMP_sections2_start(unsigned count, uintptr_t *reductions, void **memory);
unsigned GOMP_sections2_start(unsigned count, uintptr_t *reductions, void **memory)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        return MR_REAL(GOMP_sections2_start)(count, reductions, memory);
    }
    if (reductions != NULL) {
        mr_gomp_unseen();
    }
    return begin_sections(thread, count, memory, MR_CALLER);
}

MR_EXPORT unsigned GOMP_sections_next(void);
unsigned GOMP_sections_next(void)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        return MR_REAL(GOMP_sections_next)();
    }
    unsigned number = next_section(thread);
    mr_leave(thread);
    return number;
}

/* ---- singles ---- */

/* Is it the calling thread that does the single? Its share stays. */
static bool does_single(mr_thread *thread)
{
    bool is_new;
    mr_gomp_self *self = mr_gomp_now();
    mr_yield(thread);
    mr_gomp_share_begin(self, &is_new);
    return is_mine(self, 0);
}

MR_EXPORT bool GOMP_single_start(void);
bool GOMP_single_start(void)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        return MR_REAL(GOMP_single_start)();
    }
    bool does = does_single(thread);
    mr_gomp_share_end(mr_gomp_now());
    mr_leave(thread);
    return does;
}

MR_EXPORT void *GOMP_single_copy_start(void);
void *GOMP_single_copy_start(void)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        return MR_REAL(GOMP_single_copy_start)();
    }
    void *copied = NULL;
    if (!does_single(thread)) {
        mr_gomp_barrier(thread, MR_CALLER);
        copied = mr_gomp_now()->share->copied;
        mr_gomp_share_end(mr_gomp_now());
    }
    mr_leave(thread);
    return copied;
}

MR_EXPORT void GOMP_single_copy_end(void *copied);
void GOMP_single_copy_end(void *copied)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        MR_REAL(GOMP_single_copy_end)(copied);
        return;
    }
    mr_gomp_now()->share->copied = copied;
    mr_gomp_barrier(thread, MR_CALLER);
    mr_gomp_share_end(mr_gomp_now());
    mr_leave(thread);
}

/* ---- in order ---- */

static void note_done(mr_gomp_share *share, uint64_t first, uint64_t behind)
{
    done *made = mr_openmp_take(sizeof *made);
    *made = (done){share->ended, first, behind};
    share->ended = made;
    for (done **at = &share->ended; *at != NULL;) {
        done *each = *at;
        if (each->first > share->done) {
            at = &each->next;
            continue;
        }
        share->done = each->behind > share->done ? each->behind : share->done;
        *at = each->next;
        mr_openmp_give(each, sizeof *each);
        at = &share->ended;
    }
    mr_wake_key(share);
}

/* The iterations of the calling thread have ended. */
static void end_ordered(mr_gomp_self *self)
{
    if (self->first < self->behind) {
        note_done(self->share, self->first, self->behind);
    }
    self->first = self->behind;
}

MR_EXPORT void GOMP_ordered_start(void);
void GOMP_ordered_start(void)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        MR_REAL(GOMP_ordered_start)();
        return;
    }
    mr_gomp_self *self = mr_gomp_now();
    mr_gomp_share *share = self->share;
    mr_yield(thread);
    while (share != NULL && share->is_ordered && share->done < self->first) {
        mr_gomp_wait(thread, self->team, share, MR_CALLER);
    }
    if (mr_steers()) {
        mr_steer_stop(thread, MR_STOP_CALL);
    }
    if (share != NULL) {
        mr_gomp_order(self->team, MR_LOG_AFTER, share->place, MR_CALLER);
    }
    mr_leave(thread);
}

MR_EXPORT void GOMP_ordered_end(void);
void GOMP_ordered_end(void)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        MR_REAL(GOMP_ordered_end)();
        return;
    }
    mr_gomp_self *self = mr_gomp_now();
    if (self->share != NULL) {
        mr_gomp_order(self->team, MR_LOG_BEFORE, self->share->place, MR_CALLER);
        if (++self->ordered == self->behind - self->first) { /* each iteration has one at most */
            end_ordered(self);
        }
    }
    mr_yield(thread);
    mr_leave(thread);
}
