/*
 * The atomics of -fsanitize=thread, done here: sequentially consistent whatever order is asked for,
 * and logged together with the operation, because the baton is held.
 */
#include "assembly_calls.h"
#include "explore.h"
#include "ignore.h"
#include "io_parts.h"
#include "maxrace/annotate.h"

#include "scheduler.h"
#include "steer.h"
#include "tsan.h"
#include "writer.h"

typedef unsigned __int128 u128;

/* A memory order may have this flag: the access gets MR_LOG_VOLATILE. */
enum { RELAXED = 0, BY_ASSEMBLY = MR_LOG_VOLATILE >> MR_LOG_ORDER_SHIFT };

static inline __attribute__((always_inline)) bool begin(uintptr_t code)
{
    mr_thread *thread = mr_self;
    if (thread == NULL) {
        return false;
    }
    if (__builtin_expect(thread->attention != 0 || --mr_hot->budget < 0, 0)) {
        thread->about = (mr_about){code, NULL, MR_LOG_ATOMIC_UPDATE << 2};
        mr_look_around(thread);
        thread->about.code = 0;
    }
    mr_writer_settle();
    return !mr_ignores_all(thread);
}

static unsigned detail(unsigned log2, int order)
{
    order = mr_ignores_sync(mr_self) ? RELAXED : order;
    return (log2 > 3 ? 3 : log2) | (unsigned)(order & (7 | BY_ASSEMBLY)) << MR_LOG_ORDER_SHIFT;
}

/* The value as the log has it: extended by its sign from its size. */
static int64_t extend(uint64_t value, unsigned log2)
{
    unsigned unused = log2 < 3 ? 64 - (8u << log2) : 0;
    return (int64_t)(value << unused) >> unused;
}

static void put_update(const void *address, unsigned flags, uint64_t old_value, uint64_t new_value,
                       uintptr_t code)
{
    uint64_t *record = mr_writer_room();
    record[0] = mr_log_head(MR_LOG_ATOMIC_UPDATE, flags, (uint64_t)address);
    record[1] = (uint64_t)code;
    record[2] = old_value;
    record[3] = new_value;
    mr_writer_advance(record + 4);
}

/* 16 bytes are two accesses of 8. */
static void log_simple(mr_log_kind kind, const volatile void *address, unsigned log2, int order,
                       u128 value, uintptr_t code)
{
    const uint8_t *at = (const uint8_t *)address;
    mr_write_access(kind, detail(log2, order), at, extend((uint64_t)value, log2), code);
    if (log2 == 4) {
        mr_write_access(kind, detail(log2, order), at + 8, (int64_t)(value >> 64), code);
    }
}

static void log_update(const volatile void *address, unsigned log2, int order, u128 old_value,
                       u128 new_value, uintptr_t code)
{
    const uint8_t *at = (const uint8_t *)address;
    put_update(at, detail(log2, order), (uint64_t)extend((uint64_t)old_value, log2),
               (uint64_t)extend((uint64_t)new_value, log2), code);
    if (log2 == 4) {
        put_update(at + 8, detail(log2, order), (uint64_t)(old_value >> 64),
                   (uint64_t)(new_value >> 64), code);
    }
}

/* Builtins for 16 bytes are calls into another library; compare and swap is not (with -mcx16). */
static u128 swap_if_128(volatile u128 *address, u128 expected, u128 value)
{
    return __sync_val_compare_and_swap(address, expected, value);
}

#define DEFINE_SWAP_IF(bits, type)                                                                 \
    static type swap_if_##bits(volatile type *address, type expected, type value)                  \
    {                                                                                              \
        __atomic_compare_exchange_n(address, &expected, value, 0, __ATOMIC_SEQ_CST,                \
                                    __ATOMIC_SEQ_CST);                                             \
        return expected;                                                                           \
    }
DEFINE_SWAP_IF(8, uint8_t)
DEFINE_SWAP_IF(16, uint16_t)
DEFINE_SWAP_IF(32, uint32_t)
DEFINE_SWAP_IF(64, uint64_t)
#undef DEFINE_SWAP_IF

/* Everything is made of compare and swap: the baton is held, so it does not fail but for other
 * processes. */
#define DEFINE_UPDATE(bits, type, log2, name, expression)                                          \
    MR_EXPORT type __tsan_atomic##bits##_##name(volatile type *address, type value, int order);    \
    type __tsan_atomic##bits##_##name(volatile type *address, type value, int order)               \
    {                                                                                              \
        bool logged = begin(MR_CALLER);                                                            \
        type old = *address;                                                                       \
        type seen;                                                                                 \
        while ((seen = swap_if_##bits(address, old, (type)(expression))) != old) {                 \
            old = seen;                                                                            \
        }                                                                                          \
        if (logged) {                                                                              \
            log_update(address, log2, order, old, (type)(expression), MR_CALLER);                  \
        }                                                                                          \
        mr_explore_clean();                                                                        \
        return old;                                                                                \
    }

#define DEFINE_COMPARE(bits, type, log2, name)                                                     \
    MR_EXPORT int __tsan_atomic##bits##_compare_exchange_##name(                                   \
        volatile type *address, type *expected, type value, int order, int failure);               \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile type *address, type *expected,      \
                                                      type value, int order, int failure)          \
    {                                                                                              \
        type wanted = *expected;                                                                   \
        type old = compare_##bits(address, wanted, value, order, failure, MR_CALLER);              \
        *expected = old;                                                                           \
        return old == wanted;                                                                      \
    }

#define DEFINE_ATOMICS(bits, type, log2)                                                           \
    MR_EXPORT type __tsan_atomic##bits##_load(const volatile type *address, int order);            \
    type __tsan_atomic##bits##_load(const volatile type *address, int order)                       \
    {                                                                                              \
        bool logged = begin(MR_CALLER);                                                            \
        type value = load_##bits(address);                                                         \
        if (logged) {                                                                              \
            log_simple(MR_LOG_ATOMIC_READ, address, log2, order, value, MR_CALLER);                \
        }                                                                                          \
        mr_explore_clean();                                                                        \
        return value;                                                                              \
    }                                                                                              \
    MR_EXPORT void __tsan_atomic##bits##_store(volatile type *address, type value, int order);     \
    void __tsan_atomic##bits##_store(volatile type *address, type value, int order)                \
    {                                                                                              \
        bool logged = begin(MR_CALLER);                                                            \
        store_##bits(address, value);                                                              \
        if (logged) {                                                                              \
            log_simple(MR_LOG_ATOMIC_WRITE, address, log2, order, value, MR_CALLER);               \
        }                                                                                          \
        mr_explore_clean();                                                                        \
    }                                                                                              \
    static type compare_##bits(volatile type *address, type wanted, type value, int order,         \
                               int failure, uintptr_t code)                                        \
    {                                                                                              \
        bool logged = begin(code);                                                                 \
        type old = swap_if_##bits(address, wanted, value);                                         \
        if (logged && old == wanted) {                                                             \
            log_update(address, log2, order, old, value, code);                                    \
        } else if (logged) {                                                                       \
            log_simple(MR_LOG_ATOMIC_READ, address, log2, failure, old, code);                     \
        }                                                                                          \
        mr_explore_clean();                                                                        \
        return old;                                                                                \
    }                                                                                              \
    MR_EXPORT type __tsan_atomic##bits##_compare_exchange_val(volatile type *address, type wanted, \
                                                              type value, int order, int failure); \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *address, type wanted,           \
                                                    type value, int order, int failure)            \
    {                                                                                              \
        return compare_##bits(address, wanted, value, order, failure, MR_CALLER);                  \
    }                                                                                              \
    DEFINE_COMPARE(bits, type, log2, strong)                                                       \
    DEFINE_COMPARE(bits, type, log2, weak)                                                         \
    DEFINE_UPDATE(bits, type, log2, exchange, value)                                               \
    DEFINE_UPDATE(bits, type, log2, fetch_add, old + value)                                        \
    DEFINE_UPDATE(bits, type, log2, fetch_sub, old - value)                                        \
    DEFINE_UPDATE(bits, type, log2, fetch_and, old &value)                                         \
    DEFINE_UPDATE(bits, type, log2, fetch_or, old | value)                                         \
    DEFINE_UPDATE(bits, type, log2, fetch_xor, old ^ value)                                        \
    DEFINE_UPDATE(bits, type, log2, fetch_nand, ~(old & value))

#define DEFINE_LOAD_STORE(bits, type)                                                              \
    static type load_##bits(const volatile type *address)                                          \
    {                                                                                              \
        return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                         \
    }                                                                                              \
    static void store_##bits(volatile type *address, type value)                                   \
    {                                                                                              \
        __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                        \
    }
DEFINE_LOAD_STORE(8, uint8_t)
DEFINE_LOAD_STORE(16, uint16_t)
DEFINE_LOAD_STORE(32, uint32_t)
DEFINE_LOAD_STORE(64, uint64_t)
#undef DEFINE_LOAD_STORE

static u128 load_128(const volatile u128 *address)
{
    return swap_if_128((volatile u128 *)address, 0, 0);
}

static void store_128(volatile u128 *address, u128 value)
{
    u128 old = *address;
    u128 seen;
    while ((seen = swap_if_128(address, old, value)) != old) {
        old = seen;
    }
}

DEFINE_ATOMICS(8, uint8_t, 0)
DEFINE_ATOMICS(16, uint16_t, 1)
DEFINE_ATOMICS(32, uint32_t, 2)
DEFINE_ATOMICS(64, uint64_t, 3)
DEFINE_ATOMICS(128, u128, 4)

/* A loop may wait for a plain variable and do this fence each time, as flush loops of OpenMP do: others get their turn soon. */
static void give_way_in_loop(mr_thread *thread, uintptr_t code)
{
    enum { FEW = 8 };
    uint64_t now = mr_events_now();
    bool again = thread->fence_code == code && now - thread->fence_events <= FEW;
    if (again && !mr_steers()) {
        thread->busy = 1;
        mr_yield(thread);
        thread->busy = 0;
        now = mr_events_now();
    }
    thread->fence_code = code;
    thread->fence_events = now;
}

static void log_fence(int order, uintptr_t code)
{
    if (begin(code) && !mr_ignores_sync(mr_self)) {
        give_way_in_loop(mr_self, code);
        mr_write_object(MR_LOG_FENCE, (unsigned)order & 7, NULL, code, 0, 0);
    }
}

MR_EXPORT void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
    log_fence(order, MR_CALLER);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

MR_EXPORT void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* ---- atomics of any size: the functions of libatomic, which has locks that nobody sees ---- */

static bool any_size_busy; /* also those who are not recorded keep apart by it */

static bool any_size_begin(const volatile void *object, uintptr_t code)
{
    bool logged = begin(code);
    while (__atomic_exchange_n(&any_size_busy, true, __ATOMIC_ACQUIRE)) {
    }
    if (logged) {
        mr_write_object(MR_LOG_ACQUIRE, MR_LOG_ROLE_OWN, (const void *)object, code, 0, 0);
    }
    return logged;
}

static void any_size_end(bool logged, const volatile void *object, uintptr_t code)
{
    if (logged) {
        mr_write_object(MR_LOG_RELEASE, MR_LOG_ROLE_OWN, (const void *)object, code, 0, 0);
    }
    __atomic_store_n(&any_size_busy, false, __ATOMIC_RELEASE);
    mr_explore_clean();
}

/* The largest part of so many bytes there that one access may have. */
static unsigned part_log2(const uint8_t *at, size_t bytes)
{
    unsigned log2 = 3;
    while (log2 > 0 && ((size_t)1 << log2 > bytes || ((uintptr_t)at & ((1u << log2) - 1)) != 0)) {
        log2--;
    }
    return log2;
}

static u128 bytes_at(const volatile void *address, size_t bytes)
{
    const volatile uint8_t *from = (const volatile uint8_t *)address;
    u128 value = 0;
    for (size_t i = bytes; i-- > 0;) {
        value = value << 8 | from[i];
    }
    return value;
}

/* The accesses of a section. Of a read `old` is the object, or what it was; of a write `new` is what is written. */
static void log_parts(const volatile void *object, size_t bytes, const uint8_t *old,
                      const uint8_t *new, int order, uintptr_t code)
{
    const uint8_t *at = (const uint8_t *)object;
    unsigned log2;
    for (size_t i = 0; i < bytes; i += (size_t)1 << log2) {
        log2 = part_log2(at + i, bytes - i);
        u128 before = old == NULL ? 0 : bytes_at(old + i, (size_t)1 << log2);
        u128 after = new == NULL ? 0 : bytes_at(new + i, (size_t)1 << log2);
        if (old != NULL && new != NULL) {
            log_update(at + i, log2, order, before, after, code);
        } else {
            log_simple(old != NULL ? MR_LOG_ATOMIC_READ : MR_LOG_ATOMIC_WRITE, at + i, log2, order,
                       old != NULL ? before : after, code);
        }
    }
}

static void copy(void *to, const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        ((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
    }
}

/* Compilers know these names as builtins of other types. */
#define LIBATOMIC(name) __asm__("__atomic_" #name) MR_EXPORT

void mr_atomic_load(size_t bytes, const void *object, void *to, int order) LIBATOMIC(load);
void mr_atomic_load(size_t bytes, const void *object, void *to, int order)
{
    bool logged = any_size_begin(object, MR_CALLER);
    copy(to, object, bytes);
    if (logged) {
        log_parts(object, bytes, to, NULL, order, MR_CALLER);
    }
    any_size_end(logged, object, MR_CALLER);
    if (logged) {
        mr_io_log_range(MR_LOG_RANGE_WRITE, to, bytes, MR_CALLER);
    }
}

void mr_atomic_store(size_t bytes, void *object, const void *from, int order) LIBATOMIC(store);
void mr_atomic_store(size_t bytes, void *object, const void *from, int order)
{
    bool logged = any_size_begin(object, MR_CALLER);
    if (logged) {
        mr_io_log_range(MR_LOG_RANGE_READ, from, bytes, MR_CALLER);
        log_parts(object, bytes, NULL, from, order, MR_CALLER);
    }
    copy(object, from, bytes);
    any_size_end(logged, object, MR_CALLER);
}

void mr_atomic_exchange(size_t bytes, void *object, const void *from, void *to, int order)
    LIBATOMIC(exchange);
void mr_atomic_exchange(size_t bytes, void *object, const void *from, void *to, int order)
{
    bool logged = any_size_begin(object, MR_CALLER);
    if (logged) {
        mr_io_log_range(MR_LOG_RANGE_READ, from, bytes, MR_CALLER);
        log_parts(object, bytes, object, from, order, MR_CALLER);
    }
    for (size_t i = 0; i < bytes; i++) { /* both may be the same memory */
        uint8_t old = ((uint8_t *)object)[i];
        ((uint8_t *)object)[i] = ((const uint8_t *)from)[i];
        ((uint8_t *)to)[i] = old;
    }
    any_size_end(logged, object, MR_CALLER);
    if (logged) {
        mr_io_log_range(MR_LOG_RANGE_WRITE, to, bytes, MR_CALLER);
    }
}

bool mr_atomic_compare(size_t bytes, void *object, void *expected, const void *from, int order,
                       int failure) LIBATOMIC(compare_exchange);
bool mr_atomic_compare(size_t bytes, void *object, void *expected, const void *from, int order,
                       int failure)
{
    bool logged = any_size_begin(object, MR_CALLER);
    bool same = true;
    for (size_t i = 0; i < bytes; i++) {
        same = same && ((uint8_t *)object)[i] == ((uint8_t *)expected)[i];
    }
    if (logged) {
        mr_io_log_range(MR_LOG_RANGE_READ, expected, bytes, MR_CALLER);
        mr_io_log_range(MR_LOG_RANGE_READ, from, bytes, MR_CALLER);
        log_parts(object, bytes, object, same ? from : NULL, same ? order : failure, MR_CALLER);
    }
    copy(same ? object : expected, same ? from : object, bytes);
    any_size_end(logged, object, MR_CALLER);
    if (logged && !same) {
        mr_io_log_range(MR_LOG_RANGE_WRITE, expected, bytes, MR_CALLER);
    }
    return same;
}

/* ---- what the program does in assembly (maxrace/annotate.h) ---- */

/* log2 of the bytes; -1: they are no atomic access. */
static int size_of(size_t bytes)
{
    for (int log2 = 0; log2 <= 4; log2++) {
        if (bytes == (size_t)1 << log2) {
            return log2;
        }
    }
    return -1;
}

/* Keeps where it is, and what is there. */
static void note_atomic(maxrace_atomic *atomic, const volatile void *address, size_t bytes)
{
    atomic->address = address;
    atomic->bytes = size_of(bytes) < 0 ? 0 : bytes;
    for (size_t i = 0; i < atomic->bytes; i++) {
        atomic->before[i] = ((const volatile uint8_t *)address)[i];
    }
}

static void log_atomic(const maxrace_atomic *atomic, maxrace_atomic_access access, int order,
                       uintptr_t code)
{
    int log2 = size_of(atomic->bytes);
    order = (order & 7) | BY_ASSEMBLY;
    if (mr_self == NULL || log2 < 0 || mr_ignores_all(mr_self)) {
        return;
    }
    mr_writer_settle();
    u128 before = bytes_at(atomic->before, atomic->bytes);
    u128 now = bytes_at(atomic->address, atomic->bytes);
    switch (access) {
    case MAXRACE_ATOMIC_READ:
        log_simple(MR_LOG_ATOMIC_READ, atomic->address, (unsigned)log2, order, before, code);
        break;
    case MAXRACE_ATOMIC_WRITE:
        log_simple(MR_LOG_ATOMIC_WRITE, atomic->address, (unsigned)log2, order, now, code);
        break;
    case MAXRACE_ATOMIC_UPDATE:
        log_update(atomic->address, (unsigned)log2, order, before, now, code);
        break;
    }
}

MR_EXPORT void maxrace_annotate_atomic_begin(maxrace_atomic *atomic, const volatile void *address,
                                             size_t bytes)
{
    begin(MR_CALLER);
    note_atomic(atomic, address, bytes);
    if (mr_self != NULL) {
        mr_self->annotates = true;
    }
}

/* No other thread may run here: the assembly and its record are one step. */
MR_EXPORT void maxrace_annotate_atomic_end(const maxrace_atomic *atomic,
                                           maxrace_atomic_access access, int order)
{
    if (mr_self != NULL) {
        mr_self->annotates = false;
    }
    log_atomic(atomic, access, order, MR_CALLER);
}

MR_EXPORT void maxrace_annotate_fence(int order)
{
    log_fence(order, MR_CALLER);
}

void mr_atomic_assembly_begin(const void *address, unsigned log2, unsigned kind, uintptr_t code)
{
    mr_self->assembly.kind = kind;
    mr_self->assembly.atomic.bytes = 0;
    if (!mr_self->annotates) {
        begin(code);
        note_atomic(&mr_self->assembly.atomic, address, (size_t)1 << log2);
    }
}

void mr_atomic_assembly_end(bool zero, uintptr_t code)
{
    const mr_assembly *self = &mr_self->assembly;
    switch (self->kind) {
    case MR_ASSEMBLY_READ:
        log_atomic(&self->atomic, MAXRACE_ATOMIC_READ, __ATOMIC_ACQUIRE, code);
        break;
    case MR_ASSEMBLY_WRITE:
        log_atomic(&self->atomic, MAXRACE_ATOMIC_WRITE, __ATOMIC_RELEASE, code);
        break;
    case MR_ASSEMBLY_COMPARE:
        log_atomic(&self->atomic, zero ? MAXRACE_ATOMIC_UPDATE : MAXRACE_ATOMIC_READ,
                   __ATOMIC_SEQ_CST, code);
        break;
    default:
        log_atomic(&self->atomic, MAXRACE_ATOMIC_UPDATE, __ATOMIC_SEQ_CST, code);
        break;
    }
    mr_explore_clean();
}

void mr_atomic_assembly_fence(uintptr_t code)
{
    if (!mr_self->annotates) {
        log_fence(__ATOMIC_SEQ_CST, code);
    }
    mr_explore_clean();
}
