/*
 * The tasks of oneTBB (libtbb.so.12; with it std::execution::par of libstdc++). The library hands them from thread to thread in code
 * that is not recorded. Its headers count by atomic accesses, which are recorded in the program. What is missing:
 *
 * - Who spawns a task comes before the task: the library gets another task in its place, which says so when it runs and hands the
 *   library the first one, to be run next by the same thread.
 * - Who waits comes after the last task: the wait ends when the library has read that the count is 0.
 * - Who gives memory back to a pool of the library comes before who gets it next.
 *
 * What hands data on inside the library only is told as unseen.
 */
#include "memory.h"
#include "real.h"
#include "scheduler.h"
#include "sys.h"
#include "unseen.h"
#include "writer.h"

#include <sys/syscall.h>

/* tbb::detail::d1::task: 64 bytes, and aligned so. The functions are those of the Itanium C++ ABI's table. */
typedef struct task {
    const void *const *functions;
    uint64_t traits, reserved[6];
} task;

_Static_assert(sizeof(task) == 64, "as the library has it");

/* A task in the place of another one. */
typedef struct stand_in {
    task task;
    void *real;
    struct stand_in *next; /* free */
    bool runs;             /* or was run */
    char unused[47];
} stand_in;

_Static_assert(sizeof(stand_in) == 128, "tasks are aligned");

static stand_in *spare; /* of who has the baton */

static stand_in *take(void)
{
    enum { CHUNK = 512 };
    if (spare == NULL) {
        stand_in *chunk = mr_pages(CHUNK * sizeof *chunk);
        for (int i = 0; chunk != NULL && i < CHUNK; i++) {
            chunk[i].next = spare;
            spare = &chunk[i];
        }
    }
    stand_in *taken = spare;
    if (taken != NULL) {
        spare = taken->next;
    }
    return taken;
}

static void before(const void *object, uintptr_t code)
{
    mr_write_object(MR_LOG_BEFORE, MR_LOG_ROLE_NONE, object, code, 0, 0);
}

static void after(const void *object, uintptr_t code)
{
    mr_write_object(MR_LOG_AFTER, MR_LOG_ROLE_NONE, object, code, 0, 0);
}

/* Also when the task is cancelled: then the library cancels the next one, too. */
static void *run(stand_in *self, void *how)
{
    (void)how;
    void *real = self->real;
    /* Before this thread waits for its turn. */
    __atomic_store_n(&self->runs, true, __ATOMIC_RELAXED);
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        after(real, MR_CALLER);
        self->next = spare;
        spare = self;
        mr_leave(thread);
    } /* else this thread ends: the room is lost */
    return real;
}

/* Destructors: who made it frees the real one. */
static void nothing(void *self)
{
    (void)self;
}

/* The task that the library gets. */
static void *handed_on(void *real, uintptr_t code)
{
    static const void *const table[] = {NULL, NULL, nothing, nothing, run, run};
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return real;
    }
    stand_in *made = take();
    if (made != NULL) {
        *made = (stand_in){.task = {.functions = table + 2}, .real = real};
        before(real, code);
    } else {
        mr_unseen_module(MR_LOG_UNSEEN_TBB);
    }
    mr_leave(thread);
    return made != NULL ? made : real;
}

/* A sleeping thread of the library takes the task, as it would on a processor of its own. For the first tasks: it takes time. */
static void let_be_taken(const void *given, const void *real)
{
    enum { NAPS = 5, ALL_NAPS = 4000, NAP_NS = 30000 };
    static unsigned naps; /* threads of the library may nap at once */
    const stand_in *self = given;
    if (given == real) {
        return;
    }
    for (int i = 0; i < NAPS && !__atomic_load_n(&self->runs, __ATOMIC_RELAXED) &&
                    __atomic_load_n(&naps, __ATOMIC_RELAXED) < ALL_NAPS;
         i++) {
        const struct timespec nap = {0, NAP_NS};
        __atomic_add_fetch(&naps, 1, __ATOMIC_RELAXED);
        mr_sys(SYS_nanosleep, (long)&nap, 0, 0, 0, 0, 0);
        mr_thread *thread = mr_enter(); /* one that was just made waits for its turn */
        if (thread != NULL) {
            mr_yield_to_others(thread);
            mr_leave(thread);
        }
    }
}

#define HANDS_ON(name, parameters, arguments)                                                      \
    MR_EXPORT void name parameters;                                                                \
    void name parameters                                                                           \
    {                                                                                              \
        const void *real = given;                                                                  \
        given = handed_on(given, MR_CALLER);                                                       \
        MR_REAL(name) arguments;                                                                   \
        let_be_taken(given, real);                                                                 \
    }
HANDS_ON(_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE,
         (void *given, void *group), (given, group))
HANDS_ON(_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt,
         (void *given, void *group, uint16_t slot), (given, group, slot))
HANDS_ON(_ZN3tbb6detail2r16submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm,
         (void *given, void *group, void *arena, uintptr_t is_critical),
         (given, group, arena, is_critical))
HANDS_ON(_ZN3tbb6detail2r17enqueueERNS0_2d14taskEPNS2_15task_arena_baseE,
         (void *given, void *arena), (given, arena))
HANDS_ON(_ZN3tbb6detail2r17enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE,
         (void *given, void *group, void *arena), (given, group, arena))
#undef HANDS_ON

/* ---- waits, for tbb::detail::d1::wait_context ---- */

typedef struct wait {
    const char *context;
    uintptr_t code;
} wait;

static void begin_wait(wait *self, const void *context, uintptr_t code)
{
    *self = (wait){context, code};
}

/* Also when the wait throws what a task has thrown: the tasks have ended then, too. */
static void end_wait(wait *self)
{
    enum { COUNT_AT = 8, LOG2 = 3, ORDER = 2 /* acquire */ };
    const uint64_t *count = (const uint64_t *)(const void *)(self->context + COUNT_AT);
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_write_access(MR_LOG_ATOMIC_READ, LOG2 | ORDER << MR_LOG_ORDER_SHIFT, count,
                        (int64_t)__atomic_load_n(count, __ATOMIC_ACQUIRE), self->code);
        mr_leave(thread);
    }
}

MR_EXPORT void
_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_(
    void *begin, void *group, void *context, void *waiting);
void _ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_(
    void *begin, void *group, void *context, void *waiting)
{
    wait until __attribute__((cleanup(end_wait)));
    begin_wait(&until, context, MR_CALLER);
    MR_REAL(
        _ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_)
    (begin, group, context, waiting);
}

MR_EXPORT void
_ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE(void *context,
                                                                         void *group);
void _ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE(void *context,
                                                                              void *group)
{
    wait until __attribute__((cleanup(end_wait)));
    begin_wait(&until, context, MR_CALLER);
    MR_REAL(_ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE)
    (context, group);
}

/* ---- a function that runs in an arena, maybe by another thread ---- */

/* tbb::detail::d1::delegate_base, in the place of another one. */
typedef struct delegate {
    const void *const *functions;
    void *real;
    const mr_thread *caller;
    bool went; /* to another thread, and has ended there */
} delegate;

/* `elsewhere` is the function that runs, where another thread runs it. */
static void begin_call(delegate **elsewhere, delegate *self)
{
    mr_thread *thread = mr_enter();
    *elsewhere = thread != NULL && thread != self->caller ? self : NULL;
    if (*elsewhere != NULL) {
        after(self, MR_CALLER);
    }
    if (thread != NULL) {
        mr_leave(thread);
    }
}

/* Also when it throws. */
static void end_call(delegate **elsewhere)
{
    delegate *self = *elsewhere;
    mr_thread *thread = self != NULL ? mr_enter() : NULL;
    if (thread != NULL) {
        self->went = true;
        before(&self->caller, MR_CALLER);
        mr_leave(thread);
    }
}

static bool call_delegate(delegate *self)
{
    delegate *elsewhere __attribute__((cleanup(end_call))) = NULL;
    begin_call(&elsewhere, self);
    return (*(bool (**)(void *)) * (void **)self->real)(self->real);
}

static void end_delegate(delegate *self)
{
    mr_thread *thread = self->went ? mr_enter() : NULL;
    if (thread != NULL) {
        after(&self->caller, MR_CALLER);
        mr_leave(thread);
    }
}

MR_EXPORT void
_ZN3tbb6detail2r17executeERNS0_2d115task_arena_baseERNS2_13delegate_baseE(void *arena, void *real);
void _ZN3tbb6detail2r17executeERNS0_2d115task_arena_baseERNS2_13delegate_baseE(void *arena,
                                                                               void *real)
{
    static const void *const table[] = {NULL, NULL, call_delegate, nothing, nothing};
    mr_thread *thread = mr_enter();
    delegate other __attribute__((cleanup(end_delegate))) = {table + 2, real, thread, false};
    if (thread != NULL) {
        before(&other, MR_CALLER);
        mr_leave(thread);
    }
    MR_REAL(_ZN3tbb6detail2r17executeERNS0_2d115task_arena_baseERNS2_13delegate_baseE)
    (arena, thread != NULL ? (void *)&other : real);
}

/* ---- cancellation ---- */

MR_EXPORT bool _ZN3tbb6detail2r122cancel_group_executionERNS0_2d118task_group_contextE(void *group);
bool _ZN3tbb6detail2r122cancel_group_executionERNS0_2d118task_group_contextE(void *group)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        before(group, MR_CALLER);
        mr_leave(thread);
    }
    return MR_REAL(_ZN3tbb6detail2r122cancel_group_executionERNS0_2d118task_group_contextE)(group);
}

MR_EXPORT bool
_ZN3tbb6detail2r128is_group_execution_cancelledERNS0_2d118task_group_contextE(void *group);
bool _ZN3tbb6detail2r128is_group_execution_cancelledERNS0_2d118task_group_contextE(void *group)
{
    bool result = MR_REAL(
        _ZN3tbb6detail2r128is_group_execution_cancelledERNS0_2d118task_group_contextE)(group);
    mr_thread *thread = result ? mr_enter() : NULL;
    if (thread != NULL) {
        after(group, MR_CALLER);
        mr_leave(thread);
    }
    return result;
}

/* ---- memory; the library's own use of it is not logged: a thread of it would wait for its turn ---- */

static void *log_given(void *block, uintptr_t code)
{
    mr_thread *thread = block != NULL ? mr_memory_begin(code) : NULL;
    if (thread != NULL) {
        after(block, code);
        mr_leave(thread);
    }
    return block;
}

static void give_back(const void *block, uintptr_t code)
{
    mr_thread *thread = block != NULL ? mr_memory_begin(code) : NULL;
    if (thread != NULL) {
        before(block, code);
        mr_leave(thread);
    }
}

/* A block that the library may take back for another one. */
static void *moved(void *block, uintptr_t code)
{
    give_back(block, code);
    return block;
}

#define MOVED(block) moved(block, MR_CALLER)
#define GIVES(name, parameters, arguments)                                                         \
    MR_EXPORT void *name parameters;                                                               \
    void *name parameters                                                                          \
    {                                                                                              \
        return log_given(MR_REAL(name) arguments, MR_CALLER);                                      \
    }
#define TAKES_BACK(name, parameters, arguments)                                                    \
    MR_EXPORT void name parameters;                                                                \
    void name parameters                                                                           \
    {                                                                                              \
        give_back(block, MR_CALLER);                                                               \
        MR_REAL(name) arguments;                                                                   \
    }
GIVES(_ZN3tbb6detail2r18allocateERPNS0_2d117small_object_poolEm, (void **pool, size_t bytes),
      (pool, bytes))
GIVES(_ZN3tbb6detail2r18allocateERPNS0_2d117small_object_poolEmRKNS2_14execution_dataE,
      (void **pool, size_t bytes, const void *how), (pool, bytes, how))
GIVES(_ZN3tbb6detail2r115allocate_memoryEm, (size_t bytes), (bytes))
GIVES(_ZN3tbb6detail2r122cache_aligned_allocateEm, (size_t bytes), (bytes))
GIVES(scalable_realloc, (void *block, size_t bytes), (MOVED(block), bytes))
GIVES(scalable_aligned_realloc, (void *block, size_t bytes, size_t alignment),
      (MOVED(block), bytes, alignment))
GIVES(scalable_malloc, (size_t bytes), (bytes))
GIVES(scalable_calloc, (size_t count, size_t bytes), (count, bytes))
GIVES(scalable_aligned_malloc, (size_t bytes, size_t alignment), (bytes, alignment))
TAKES_BACK(_ZN3tbb6detail2r110deallocateERNS0_2d117small_object_poolEPvm,
           (void *pool, void *block, size_t bytes), (pool, block, bytes))
TAKES_BACK(_ZN3tbb6detail2r110deallocateERNS0_2d117small_object_poolEPvmRKNS2_14execution_dataE,
           (void *pool, void *block, size_t bytes, const void *how), (pool, block, bytes, how))
TAKES_BACK(_ZN3tbb6detail2r117deallocate_memoryEPv, (void *block), (block))
TAKES_BACK(_ZN3tbb6detail2r124cache_aligned_deallocateEPv, (void *block), (block))
TAKES_BACK(scalable_free, (void *block), (block))
TAKES_BACK(scalable_aligned_free, (void *block), (block))
#undef GIVES
#undef MOVED
#undef TAKES_BACK

MR_EXPORT int scalable_posix_memalign(void **block, size_t alignment, size_t bytes);
int scalable_posix_memalign(void **block, size_t alignment, size_t bytes)
{
    int status = MR_REAL(scalable_posix_memalign)(block, alignment, bytes);
    log_given(status == 0 ? *block : NULL, MR_CALLER);
    return status;
}

/* ---- what is not seen ---- */

#define UNSEEN(type, name, parameters, arguments)                                                  \
    MR_EXPORT type name parameters;                                                                \
    type name parameters                                                                           \
    {                                                                                              \
        mr_unseen_module(MR_LOG_UNSEEN_TBB);                                                       \
        return MR_REAL(name) arguments;                                                            \
    }
UNSEEN(void,
       _ZN3tbb6detail2r117parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE,
       (void *group, size_t most, const void *filter), (group, most, filter))
UNSEEN(void, _ZN3tbb6detail2r17suspendEPFvPvPNS1_18suspend_point_typeEES2_,
       (void (*function)(void *, void *), void *argument), (function, argument))
UNSEEN(void, _ZN3tbb6detail2r14waitERNS0_2d115task_arena_baseE, (void *arena), (arena))
UNSEEN(void, _ZN3tbb6detail2r17acquireERNS0_2d116queuing_rw_mutexERNS3_11scoped_lockEb,
       (void *mutex, void *lock, bool writes), (mutex, lock, writes))
UNSEEN(bool, _ZN3tbb6detail2r111try_acquireERNS0_2d116queuing_rw_mutexERNS3_11scoped_lockEb,
       (void *mutex, void *lock, bool writes), (mutex, lock, writes))
UNSEEN(void, _ZN3tbb6detail2r17acquireERNS0_2d19rtm_mutexERNS3_11scoped_lockEb,
       (void *mutex, void *lock, bool only_speculates), (mutex, lock, only_speculates))
UNSEEN(bool, _ZN3tbb6detail2r111try_acquireERNS0_2d19rtm_mutexERNS3_11scoped_lockE,
       (void *mutex, void *lock), (mutex, lock))
UNSEEN(void, _ZN3tbb6detail2r114acquire_readerERNS0_2d112rtm_rw_mutexERNS3_11scoped_lockEb,
       (void *mutex, void *lock, bool only_speculates), (mutex, lock, only_speculates))
UNSEEN(void, _ZN3tbb6detail2r114acquire_writerERNS0_2d112rtm_rw_mutexERNS3_11scoped_lockEb,
       (void *mutex, void *lock, bool only_speculates), (mutex, lock, only_speculates))
#undef UNSEEN
