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
extern int64_t mr_writer_unknown; /* a value that nobody looks at */

/* False when the file cannot be made or is not ours: nothing is recorded. Complains about the
 * former. */
bool mr_writer_open(const char *path);

/* After that: the header of the log that another program makes at the path. NULL: there is none. */
mr_log_header *mr_writer_other_header(void);

/* Ends the log: MR_LOG_EXITED, … What is written later goes nowhere. */
void mr_writer_close(mr_log_state state, int error);

/* The child of a fork: the log is the parent's, and must not be touched any more. */
void mr_writer_forget(void);

/* Empties the window; ranges that wait for their bytes stay in it. */
void mr_writer_grow(void);

/* Logs what waits for its value; the store is done. */
void mr_writer_settle(void);

/* The write that waits, as a range: another range can follow while it waits. */
void mr_writer_wait_as_range(void);

/* The thread faulted. Was it the write that waits, and what it writes to cannot be read either,
 * then it has no value: its record becomes padding. */
void mr_writer_fault(void);

/* mr_put_known and mr_put_write, when it needs more than a short record. */
void mr_put_known_far(unsigned head, uintptr_t code, uintptr_t address, int64_t value);
void mr_put_write_far(unsigned head, uintptr_t code, uintptr_t address);

/* Object records; code is where it happened. */
void mr_write_object(mr_log_kind kind, unsigned role, const void *address, uintptr_t code,
                     unsigned count, uint64_t number);

/* An ALIAS record. */
void mr_write_alias(const void *address, uintptr_t code, uint64_t bytes, uintptr_t to);

/* A STATE record. A write may wait for its value, and goes on waiting. */
void mr_write_state(const void *address, uintptr_t code, uint64_t fingerprint);

/* A range with its bytes as they are now, in pieces. */
void mr_write_range(mr_log_kind kind, const void *address, size_t bytes, uintptr_t code);

/* A range that is about to be written, its bytes to be filled in; beyond 128 KiB they are not. */
void mr_write_range_pending(const void *address, size_t bytes, uintptr_t code, unsigned detail);

/* Access of 1 to 8 bytes with a known value. */
void mr_write_access(mr_log_kind kind, unsigned detail, const void *address, int64_t value,
                     uintptr_t code);

/* A text record: THREAD_NAME (number: the thread), CALL_NAME or SUPPRESSION. The text is cut at
 * MR_LOG_TEXT_BYTES. */
void mr_write_text(mr_log_kind kind, uint64_t number, const char *text);

void mr_write_module(const mr_log_module *module, const char *path);

/* The records of the thread from here on. */
void mr_write_switch(uint32_t thread);

/* Logs what waits for its value, if anything does. */
static inline void mr_settle(void)
{
    if (mr_hot->live.waiting != MR_LOG_WAITING_NONE) {
        mr_writer_settle();
    }
}

/* A record is complete. */
static inline void mr_hot_advance(mr_hot_state *hot, uint32_t *after)
{
    __atomic_store_n(&hot->live.cursor, after, __ATOMIC_RELEASE);
}

static inline void mr_writer_advance(uint64_t *after)
{
    mr_hot_advance(mr_hot, (uint32_t *)(void *)after);
}

/* Where the next record of whole words begins. */
static inline uint64_t *mr_writer_cursor(void)
{
    uint32_t *cursor = mr_hot->live.cursor;
    if ((uintptr_t)cursor % sizeof(uint64_t) != 0) {
        *cursor = MR_LOG_PADDING_UNIT;
        mr_hot_advance(mr_hot, ++cursor);
    }
    return (uint64_t *)(void *)cursor;
}

static inline uint64_t *mr_writer_room(void)
{
    if (__builtin_expect(mr_hot->live.cursor >= mr_hot->limit, 0)) {
        mr_writer_grow();
    }
    return mr_writer_cursor();
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

static inline int64_t *mr_writer_known(unsigned head, uintptr_t address)
{
    return &mr_writer_model.values[mr_log_value_of(head, address)];
}

/* A reader looks at each volatile access and each read that is ignored apart (mr_log_is_run_long), so it
 * has no short record. */
static inline bool mr_writer_keeps_long(unsigned head)
{
    return (head >> 8 & (MR_LOG_VOLATILE | MR_LOG_IGNORED)) != 0;
}

/* Writes a READ or WRITE whose value is known: `head` has its kind and detail, no payload. Inline
 * where they are constant. */
static inline __attribute__((always_inline)) void mr_put_known(unsigned head, uintptr_t code,
                                                               uintptr_t address, int64_t value)
{
    unsigned number = mr_log_site_of(mr_log_kind_of(head), code, address);
    mr_log_site *site = &mr_writer_model.sites[number];
    int64_t distance = (int64_t)(address - site->address);
    if (__builtin_expect(site->head != (head | (uint64_t)code << 16) ||
                             !mr_log_fits_short(distance) || mr_writer_keeps_long(head),
                         0)) {
        mr_put_known_far(head, code, address, value);
        return;
    }
    int64_t *known = mr_writer_known(head, address);
    mr_log_form form = mr_log_form_for(value, *known);
    mr_hot_state *hot = mr_hot;
    uint32_t *record = hot->live.cursor;
    site->address = address;
    *known = value;
    *(mr_any64 *)(record + 1) = value;
    record[0] = mr_log_short(form, number, distance);
    mr_hot_advance(hot, record + form);
}

/* Writes a WRITE whose value comes later. */
static inline __attribute__((always_inline)) void mr_put_write(unsigned head, uintptr_t code,
                                                               uintptr_t address)
{
    unsigned number = mr_log_site_of(mr_log_kind_of(head), code, address), log2 = head >> 8 & 3;
    mr_log_site *site = &mr_writer_model.sites[number];
    int64_t distance = (int64_t)(address - site->address);
    if (__builtin_expect(site->head != (head | (uint64_t)code << 16) ||
                             !mr_log_fits_short(distance) || mr_writer_keeps_long(head),
                         0)) {
        mr_put_write_far(head, code, address);
        return;
    }
    mr_log_form form = log2 == 3 ? MR_LOG_FORM_64 : MR_LOG_FORM_32;
    mr_hot_state *hot = mr_hot;
    uint32_t *record = hot->live.cursor;
    site->address = address;
    record[0] = mr_log_short(form, number, distance);
    hot->open_form = log2;
    hot->open_address = (const void *)address;
    hot->open_known = mr_writer_known(head, address);
    hot->live.open = record + 1;
    hot->live.waiting = MR_LOG_WAITING_WRITE;
    mr_hot_advance(hot, record + form);
}

/* Fills in the value of the write that waits. */
static inline void mr_settle_write(void)
{
    mr_hot_state *hot = mr_hot;
    int64_t value = mr_load(hot->open_address, hot->open_form & 3);
    if ((hot->open_form & (3 | MR_OPEN_LONG)) >= 3) {
        *(mr_any64 *)hot->live.open = value;
    } else {
        *(mr_any32 *)hot->live.open = (int32_t)value;
    }
    *hot->open_known = value;
    __atomic_store_n(&hot->live.waiting, MR_LOG_WAITING_NONE, __ATOMIC_RELEASE);
}

/* A read directly after a write that waits. The write's value is not known to the model yet, but
 * will be to a reader: so a read that looks at the same place says its value, which stays. */
static inline void mr_read_after_write(unsigned head, uintptr_t address, int64_t value)
{
    int64_t *known = mr_writer_known(head, address);
    mr_hot->live.waiting = MR_LOG_WAITING_BOTH;
    if (__builtin_expect(known == mr_hot->open_known, 0)) {
        *known = ~value;
        mr_hot->open_known = &mr_writer_unknown;
    }
}

#endif
