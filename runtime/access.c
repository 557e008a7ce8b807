#include "explore.h"
#include "ignore.h"
#include "init.h"
#include "modules.h"
#include "scheduler.h"
#include "steer.h"
#include "tsan.h"
#include "vectors.h"
#include "writer.h"

/* While something is ignored each access comes here, and keeping registers would take most of its time: what mr_look_around does then
 * needs no vector registers. */
void mr_look_around_kept(mr_thread *thread)
{
    if (thread->attention == MR_ATTENTION_IGNORE && mr_hot->budget > 0 && !mr_steers()) {
        thread->busy = 1;
        mr_writer_settle();
        mr_hot->budget--;
        thread->busy = 0;
    } else {
        mr_vectors_kept(mr_look_around, thread);
    }
}

/*
 * What each access does first: the calling thread, with its last write settled, or NULL when it is
 * not recorded. Another thread may run in here, before the access.
 */
static inline mr_thread *begin(void)
{
    mr_thread *thread = mr_self;
    if (__builtin_expect(thread == NULL, 0)) {
        return NULL;
    }
    if (__builtin_expect(thread->attention != 0 || --mr_hot->budget < 0, 0)) {
        mr_look_around_kept(thread);
    }
    return thread;
}

/* The same, and a replay knows which access it is. */
static mr_thread *begin_access(const void *address, unsigned head, uintptr_t code)
{
    mr_thread *thread = mr_self;
    if (thread != NULL) {
        thread->about = (mr_about){code, address, head};
        begin();
        thread->about.code = 0;
    }
    return thread;
}

/* Takes one access from the budget, if there is nothing to attend to and room in the log. */
static inline bool is_plain(const mr_thread *thread, mr_hot_state *hot)
{
    if (__builtin_expect(thread->attention != 0 || hot->live.cursor >= hot->limit, 0)) {
        return false;
    }
    if (__builtin_expect(--hot->budget < 0, 0)) {
        hot->budget++;
        return false;
    }
    return true;
}

/* A function of its own, so that those who call it keep their registers. */
static __attribute__((noinline)) void settle_write(void)
{
    mr_settle_write();
}

static __attribute__((noinline)) void slow_read(const void *address, unsigned head, uintptr_t code)
{
    int64_t value;
    if (mr_hot->live.waiting == MR_LOG_WAITING_RANGE && !mr_hot->kept) {
        if (mr_ignores_all(mr_self)) {
            return;
        }
        value = mr_load(address, head >> 8 & 3);
        mr_hot->kept = true;
    } else {
        if (mr_ignores_all(begin_access(address, head, code))) {
            return;
        }
        value = mr_load(address, head >> 8 & 3); /* first: it may crash */
        mr_settle();
        mr_writer_room();
    }
    unsigned detail = mr_ignore_detail(mr_self, mr_log_detail(head));
    head = (unsigned)mr_log_head(mr_log_kind_of(head), detail, 0);
    mr_put_known(head, code, (uintptr_t)address, value);
    mr_explore_clean();
}

/*
 * For `*a = *b` gcc calls first for the write, then for the read, and then it loads and stores. So
 * a read directly after a write does not settle it, and no other thread runs there.
 */
static inline __attribute__((always_inline)) void read_access(const void *address, unsigned log2,
                                                              unsigned flags, uintptr_t code)
{
    mr_thread *thread = mr_self;
    unsigned head = (unsigned)mr_log_head(MR_LOG_READ, log2 | flags, 0);
    if (__builtin_expect(thread == NULL, 0)) {
        return;
    }
    mr_hot_state *hot = mr_hot;
    mr_log_waiting waiting = hot->live.waiting;
    if (waiting != MR_LOG_WAITING_WRITE) {
        if (__builtin_expect(waiting == MR_LOG_WAITING_RANGE, 0) || !is_plain(thread, hot)) {
            slow_read(address, head, code);
            return;
        }
        if (waiting != MR_LOG_WAITING_NONE) {
            settle_write();
        }
    } else if (mr_steers() && mr_steer_splits(thread, head, code)) {
        settle_write();
        slow_read(address, head, code);
        return;
    } else if (__builtin_expect(mr_rt.explores, 0)) {
        mr_explore_read_after_write(thread, address, code);
    }
    int64_t value = mr_load(address, log2);
    if (waiting == MR_LOG_WAITING_WRITE) {
        mr_read_after_write(head, (uintptr_t)address, value);
    }
    mr_put_known(head, code, (uintptr_t)address, value);
}

static __attribute__((noinline)) void slow_write(const void *address, unsigned head, uintptr_t code)
{
    const mr_thread *thread = begin_access(address, head, code);
    if (mr_ignores_writes(thread)) {
        return;
    }
    mr_settle();
    mr_writer_room();
    mr_put_write(head, code, (uintptr_t)address);
    if (mr_ignores_reads(thread)) {
        mr_writer_wait_as_range(); /* so that a read directly after it comes to slow_read */
    }
    mr_explore_clean();
}

static inline __attribute__((always_inline)) void write_access(const void *address, unsigned log2,
                                                               unsigned flags, uintptr_t code)
{
    mr_thread *thread = mr_self;
    unsigned head = (unsigned)mr_log_head(MR_LOG_WRITE, log2 | flags, 0);
    if (__builtin_expect(thread == NULL, 0)) {
        return;
    }
    mr_log_waiting waiting = mr_hot->live.waiting;
    if (__builtin_expect(waiting == MR_LOG_WAITING_RANGE, 0) || !is_plain(thread, mr_hot)) {
        slow_write(address, head, code);
        return;
    }
    if (waiting != MR_LOG_WAITING_NONE) {
        settle_write();
    }
    mr_put_write(head, code, (uintptr_t)address);
}

/* As a read directly after a write. */
static bool range_after_write(void)
{
    if (mr_hot->live.waiting == MR_LOG_WAITING_WRITE) {
        mr_writer_wait_as_range();
    }
    if (mr_hot->live.waiting != MR_LOG_WAITING_RANGE || mr_hot->kept) {
        return false;
    }
    mr_hot->kept = true;
    return true;
}

/* A range may have many records: a replay looks at each. */
static void look_at_range(void)
{
    if (mr_steers() && mr_self != NULL) {
        __atomic_or_fetch(&mr_self->attention, MR_ATTENTION_STEER, __ATOMIC_RELAXED);
    }
}

/* As begin; a replay knows which access it is. */
static const mr_thread *begin_range(mr_log_kind kind, const void *address, uintptr_t code)
{
    return mr_steers() ? begin_access(address, (unsigned)mr_log_head(kind, 0, 0), code) : begin();
}

static void read_range(const void *address, unsigned long bytes, uintptr_t code)
{
    if (bytes == 0 || mr_self == NULL) {
        return;
    }
    look_at_range();
    if (mr_ignores_all(mr_self)) {
        begin();
        return;
    }
    if (!range_after_write()) {
        begin_range(MR_LOG_RANGE_READ, address, code);
        mr_settle();
    }
    mr_write_range(MR_LOG_RANGE_READ, address, bytes, code);
}

static void write_range(const void *address, unsigned long bytes, unsigned flags, uintptr_t code)
{
    look_at_range();
    const mr_thread *thread = bytes != 0 ? begin_range(MR_LOG_RANGE_WRITE, address, code) : NULL;
    if (thread != NULL && !mr_ignores_writes(thread)) {
        mr_write_range_pending(address, bytes, code, flags);
    }
}

#define DEFINE_ACCESSES(bytes, log2)                                                               \
    void __tsan_read##bytes(void *address)                                                         \
    {                                                                                              \
        read_access(address, log2, 0, MR_CALLER);                                                  \
    }                                                                                              \
    void __tsan_write##bytes(void *address)                                                        \
    {                                                                                              \
        write_access(address, log2, 0, MR_CALLER);                                                 \
    }                                                                                              \
    void __tsan_read##bytes##_pc(void *address, void *code)                                        \
    {                                                                                              \
        read_access(address, log2, 0, (uintptr_t)code);                                            \
    }                                                                                              \
    void __tsan_write##bytes##_pc(void *address, void *code)                                       \
    {                                                                                              \
        write_access(address, log2, 0, (uintptr_t)code);                                           \
    }                                                                                              \
    void __tsan_volatile_read##bytes(void *address)                                                \
    {                                                                                              \
        read_access(address, log2, MR_LOG_VOLATILE, MR_CALLER);                                    \
    }                                                                                              \
    void __tsan_volatile_write##bytes(void *address)                                               \
    {                                                                                              \
        write_access(address, log2, MR_LOG_VOLATILE, MR_CALLER);                                   \
    }                                                                                              \
    void __tsan_read_write##bytes(void *address)                                                   \
    {                                                                                              \
        read_access(address, log2, 0, MR_CALLER);                                                  \
        write_access(address, log2, 0, MR_CALLER);                                                 \
    }                                                                                              \
    void __tsan_unaligned_read##bytes(void *address)                                               \
    {                                                                                              \
        read_access(address, log2, 0, MR_CALLER);                                                  \
    }                                                                                              \
    void __tsan_unaligned_write##bytes(void *address)                                              \
    {                                                                                              \
        write_access(address, log2, 0, MR_CALLER);                                                 \
    }                                                                                              \
    void __tsan_unaligned_volatile_read##bytes(void *address)                                      \
    {                                                                                              \
        read_access(address, log2, MR_LOG_VOLATILE, MR_CALLER);                                    \
    }                                                                                              \
    void __tsan_unaligned_volatile_write##bytes(void *address)                                     \
    {                                                                                              \
        write_access(address, log2, MR_LOG_VOLATILE, MR_CALLER);                                   \
    }                                                                                              \
    void __tsan_unaligned_read_write##bytes(void *address)                                         \
    {                                                                                              \
        read_access(address, log2, 0, MR_CALLER);                                                  \
        write_access(address, log2, 0, MR_CALLER);                                                 \
    }
MR_TSAN_SIZES(DEFINE_ACCESSES)
#undef DEFINE_ACCESSES

#define DEFINE_WIDE(name, call)                                                                    \
    void __tsan_##name(void *address)                                                              \
    {                                                                                              \
        call;                                                                                      \
    }
DEFINE_WIDE(read16, read_range(address, 16, MR_CALLER))
DEFINE_WIDE(write16, write_range(address, 16, 0, MR_CALLER))
DEFINE_WIDE(unaligned_read16, read_range(address, 16, MR_CALLER))
DEFINE_WIDE(unaligned_write16, write_range(address, 16, 0, MR_CALLER))
DEFINE_WIDE(volatile_read16, read_range(address, 16, MR_CALLER))
DEFINE_WIDE(volatile_write16, write_range(address, 16, MR_LOG_VOLATILE, MR_CALLER))
DEFINE_WIDE(unaligned_volatile_read16, read_range(address, 16, MR_CALLER))
DEFINE_WIDE(unaligned_volatile_write16, write_range(address, 16, MR_LOG_VOLATILE, MR_CALLER))
DEFINE_WIDE(read_write16, read_range(address, 16, MR_CALLER);
            write_range(address, 16, 0, MR_CALLER))
DEFINE_WIDE(unaligned_read_write16, read_range(address, 16, MR_CALLER);
            write_range(address, 16, 0, MR_CALLER))
#undef DEFINE_WIDE

void __tsan_read16_pc(void *address, void *code)
{
    read_range(address, 16, (uintptr_t)code);
}

void __tsan_write16_pc(void *address, void *code)
{
    write_range(address, 16, 0, (uintptr_t)code);
}

#define DEFINE_UNALIGNED(bits, log2)                                                               \
    uint##bits##_t __sanitizer_unaligned_load##bits(const void *address)                           \
    {                                                                                              \
        read_access(address, log2, 0, MR_CALLER);                                                  \
        return *(const uint##bits##_any *)address;                                                 \
    }                                                                                              \
    void __sanitizer_unaligned_store##bits(void *address, uint##bits##_t value)                    \
    {                                                                                              \
        write_access(address, log2, 0, MR_CALLER);                                                 \
        *(uint##bits##_any *)address = value;                                                      \
    }
typedef uint16_t uint16_any __attribute__((may_alias, aligned(1)));
typedef uint32_t uint32_any __attribute__((may_alias, aligned(1)));
typedef uint64_t uint64_any __attribute__((may_alias, aligned(1)));
DEFINE_UNALIGNED(16, 1)
DEFINE_UNALIGNED(32, 2)
DEFINE_UNALIGNED(64, 3)
#undef DEFINE_UNALIGNED

/* An object of a library that is not recorded is read or written, as its caller says: at its first
 * byte. */
void __tsan_external_read(void *address, void *code, void *tag)
{
    (void)tag;
    read_access(address, 0, 0, (uintptr_t)code);
}

void __tsan_external_write(void *address, void *code, void *tag)
{
    (void)tag;
    write_access(address, 0, 0, (uintptr_t)code);
}

void __tsan_read_range(void *address, unsigned long bytes)
{
    read_range(address, bytes, MR_CALLER);
}

void __tsan_write_range(void *address, unsigned long bytes)
{
    write_range(address, bytes, 0, MR_CALLER);
}

void __tsan_read_range_pc(void *address, unsigned long bytes, void *code)
{
    read_range(address, bytes, (uintptr_t)code);
}

void __tsan_write_range_pc(void *address, unsigned long bytes, void *code)
{
    write_range(address, bytes, 0, (uintptr_t)code);
}

void __tsan_vptr_read(void **address)
{
    read_access(address, 3, 0, MR_CALLER);
}

/* A destructor stores what is there already, unless the object is of a derived class. */
void __tsan_vptr_update(void **address, void *value)
{
    if (*address != value) {
        write_access(address, 3, 0, MR_CALLER);
    }
}

void __tsan_init(void)
{
    mr_init();
    mr_modules_find_instrumented();
}
