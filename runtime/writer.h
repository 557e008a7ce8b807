/*
 * writer: appends to the log. Everything here is called by the owner of the baton only.
 *
 *   mr_writer_open → (mr_write_*)* → mr_writer_close
 *
 * Records go to the window, whose blocks are allocated beforehand; a full one is written to the end
 * of the file (log.h). That costs half of the time that new pages of a mapped file do, and the
 * window stays in the processor's cache. So a full disk shows in mr_writer_grow and not as a fault;
 * then, and at the limit of events, what follows is written to memory that nobody reads. The path
 * is opened anew each time: the program may close any descriptor.
 */
#ifndef MR_RUNTIME_WRITER_H
#define MR_RUNTIME_WRITER_H

#include "log_short.h"
#include "state.h"

#define MR_LOG_MARGIN 64u /* words that may be written after `limit` */

extern mr_log_model mr_writer_model;

/* False when the file cannot be made or is not ours: nothing is recorded. Complains about the
 * former. */
bool mr_writer_open(const char *path);

/* Ends the log: MR_LOG_EXITED, … What is written later goes nowhere. */
void mr_writer_close(mr_log_state state, int error);

/* Empties the window; ranges that wait for their bytes stay in it. */
void mr_writer_grow(void);

/* Logs what waits for its value; the store is done. */
void mr_writer_settle(void);

/* The write that waits, as a range: another range can follow while it waits. */
void mr_writer_wait_as_range(void);

/* Object records; code is where it happened. */
void mr_write_object(mr_log_kind kind, unsigned role, const void *address, uintptr_t code,
                     unsigned count, uint64_t number);

/* A range with its bytes as they are now, in pieces. */
void mr_write_range(mr_log_kind kind, const void *address, size_t bytes, uintptr_t code);

/* A range that is about to be written, its bytes to be filled in; beyond 128 KiB they are not. */
void mr_write_range_pending(const void *address, size_t bytes, uintptr_t code, unsigned detail);

/* Access of 1 to 8 bytes with a known value. */
void mr_write_access(mr_log_kind kind, unsigned detail, const void *address, int64_t value,
                     uintptr_t code);

/* A text record: THREAD_NAME (number: the thread) or CALL_NAME. */
void mr_write_text(mr_log_kind kind, uint64_t number, const char *text);

void mr_write_module(const mr_log_module *module, const char *path);

/* The records of the thread from here on. */
void mr_write_switch(uint32_t thread);

/* Logs what waits for its value, if anything does. */
static inline void mr_settle(void)
{
    if (mr_hot_state.waiting != MR_WAITING_NONE) {
        mr_writer_settle();
    }
}

/* A record of `words` words is complete. */
static inline void mr_writer_advance(uint64_t *after)
{
    mr_hot_state.cursor = after;
    __atomic_store_n(mr_hot_state.end, (uint64_t)((uintptr_t)after + mr_hot_state.bias),
                     __ATOMIC_RELEASE);
}

static inline uint64_t *mr_writer_room(void)
{
    if (__builtin_expect(mr_hot_state.cursor >= mr_hot_state.limit, 0)) {
        mr_writer_grow();
    }
    return mr_hot_state.cursor;
}

/* At any address, whatever type is there. */
typedef int16_t mr_any16 __attribute__((may_alias, aligned(1)));
typedef int32_t mr_any32 __attribute__((may_alias, aligned(1)));
typedef int64_t mr_any64 __attribute__((may_alias, aligned(1)));

static inline int64_t mr_load(const void *address, unsigned size_log2)
{
    switch (size_log2) {
    case 0:
        return *(const volatile int8_t *)address;
    case 1:
        return *(const volatile mr_any16 *)address;
    case 2:
        return *(const volatile mr_any32 *)address;
    default:
        return *(const volatile mr_any64 *)address;
    }
}

/* Writes an access whose value is known; the compiler folds constants. */
static inline void mr_put_access(uint64_t *record, uint64_t head, uintptr_t code, int64_t value)
{
    if (value == (int16_t)value) {
        record[0] = head | (uint64_t)MR_LOG_SMALL << 8;
        record[1] = (uint64_t)code | (uint64_t)value << 48;
        mr_writer_advance(record + 2);
    } else {
        record[0] = head;
        record[1] = (uint64_t)code;
        record[2] = (uint64_t)value;
        mr_writer_advance(record + 3);
    }
}

/* Writes a READ or WRITE: `head` has its kind and detail, no payload. Inline where they are
 * constant.
 */
static inline __attribute__((always_inline)) void mr_put_short(unsigned head, uintptr_t code,
                                                               uintptr_t address, int64_t value)
{
    uint64_t *record = mr_hot_state.cursor;
    uint64_t site_head = head | (uint64_t)code << 16;
    unsigned number = mr_log_site_of(site_head);
    mr_log_site *site = &mr_writer_model.sites[number];
    int64_t *known = &mr_writer_model.values[mr_log_value_of(head, address)];
    int64_t distance = (int64_t)(address - site->address), before = *known;
    bool here = site->head == site_head && mr_log_fits_short(distance);
    *known = value;
    site->address = address;
    if (__builtin_expect(!here, 0)) {
        site->head = site_head;
        mr_put_access(record, head | (uint64_t)address << 16, code, value);
        return;
    }
    /* Without jumps: they would be hard to foretell. */
    unsigned same = value == before, wide = (unsigned)!mr_log_fits_short(value) & (same ^ 1);
    unsigned kind = MR_LOG_SHORT + same + 2 * wide;
    record[0] =
        kind | (uint64_t)number << MR_LOG_KIND_BITS |
        ((uint64_t)distance << (64 - MR_LOG_SHORT_BITS)) >> (64 - MR_LOG_SHORT_VALUE_SHIFT) |
        (uint64_t)value << MR_LOG_SHORT_VALUE_SHIFT;
    record[1] = (uint64_t)value;
    mr_writer_advance(record + 1 + wide);
}

#endif
