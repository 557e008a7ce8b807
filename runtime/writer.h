/*
 * writer: appends to the log. Everything here is called by the owner of the baton only.
 *
 *   mr_writer_open → (mr_write_*)* → mr_writer_close
 *
 * The file is mapped in windows, each with its blocks allocated beforehand, so a full disk shows in
 * mr_writer_grow and not as a fault; then, and at the limit of events, what follows is written to
 * memory that nobody reads. The path is opened anew for each window: the program may close any
 * descriptor.
 */
#ifndef MR_RUNTIME_WRITER_H
#define MR_RUNTIME_WRITER_H

#include "state.h"

#define MR_LOG_MARGIN 64u /* words that may be written after `limit` */

/* False when the file cannot be made or is not ours: nothing is recorded. Complains about the
 * former. */
bool mr_writer_open(const char *path);

/* Ends the log: MR_LOG_EXITED, … What is written later goes nowhere. */
void mr_writer_close(mr_log_state state, int error);

/* The next window. Words of a record that is not complete stay where they are. */
void mr_writer_grow(void);

/* Fills the value of the last write in. */
void mr_writer_settle(void);

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

/* A record of `words` words is complete. */
static inline void mr_writer_advance(uint64_t *after)
{
    mr_hot_state.cursor = after;
    *mr_hot_state.end = (uint64_t)((uintptr_t)after + mr_hot_state.bias);
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

/* Fills in the value of the write at `record`; the record becomes shorter where nothing follows it.
 */
static inline void mr_put_value(uint64_t *record)
{
    uint64_t head = record[0] & ~((uint64_t)MR_LOG_NO_VALUE << 8);
    int64_t value = mr_load((const void *)mr_log_payload(head), head >> 8 & 3);
    if (mr_hot_state.cursor == record + 3) {
        mr_put_access(record, head, record[1], value);
    } else {
        record[2] = (uint64_t)value;
        record[0] = head;
    }
}

#endif
