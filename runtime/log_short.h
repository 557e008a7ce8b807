/*
 * log_short: most accesses, and entries of functions, in one word. Writer and reader keep the same
 * three tables, a mr_log_model, and a record of an access of 1 to 8 bytes says only what they do
 * not tell:
 *
 * - sites: what an instruction does, and which address it accessed last. A record of kind READ or
 *   WRITE puts its instruction in; later ones name its place, and the distance to the last address
 * - values: what was seen at an address, for a few thousand of them. No address is kept: both sides
 *   look at the same place, whatever it stands for
 *
 * As in the predictors of Burtscher's VPC (IEEE Trans. Computers 54, 2005), in whole words, so that
 * it takes a few instructions.
 *
 *     bits  0..7   kind: SHORT, SHORT_SAME (the value is that of the table), SHORT_WIDE (it is in
 *                  the second word)
 *     bits  8..19  site
 *     bits 20..41  address minus the site's last address, signed
 *     bits 42..63  of SHORT: the value, signed
 *
 * Only READ and WRITE records and the short ones change these tables; atomics and ranges do not.
 *
 * - entries: which function is entered, from where, and how its frame pointer lies to its stack
 *   pointer. A record ENTRY puts one in; the ENTER behind it, and later ones, name its place and
 * say where the stack pointer is
 *
 *     ENTRY   payload: where the function was called (a return address)
 *             word 1: code address in the function, behind its call of __tsan_func_entry
 *             word 2: frame pointer minus stack pointer, 0: it is not known to have a frame pointer
 *     ENTER   bits 8..19 entry, bits 20..63 the stack pointer at word 1 of the entry, by 16
 */
#ifndef MR_RUNTIME_LOG_SHORT_H
#define MR_RUNTIME_LOG_SHORT_H

#include "log.h"

enum {
    MR_LOG_SITE_BITS = 12,
    MR_LOG_VALUE_BITS = 14,
    MR_LOG_ENTRY_BITS = 12,
    MR_LOG_DISTANCE_SHIFT = 20,
    MR_LOG_SHORT_VALUE_SHIFT = 42,
    MR_LOG_SHORT_BITS = 22, /* of distances and values */
    MR_LOG_STACK_SHIFT = 20,
    MR_LOG_STACK_UNIT = 16, /* stack pointers at calls are multiples of it */
    MR_LOG_EXPANDED_WORDS = 4,
};

typedef struct mr_log_site {
    uint64_t head; /* kind and detail of the access, payload: code */
    uint64_t address;
} mr_log_site;

typedef struct mr_log_entry {
    uint64_t caller, code; /* code 0: nothing is here */
    uint64_t frame;        /* frame pointer minus stack pointer, 0: not known */
} mr_log_entry;

typedef struct mr_log_model {
    mr_log_site sites[1 << MR_LOG_SITE_BITS];
    mr_log_entry entries[1 << MR_LOG_ENTRY_BITS];
    int64_t values[1 << MR_LOG_VALUE_BITS];
} mr_log_model;

/* The head that a site of this access has: `head` without its flags of values. */
static inline uint64_t mr_log_site_head(uint64_t head, uint64_t code)
{
    unsigned detail = mr_log_detail(head) & ~(MR_LOG_SMALL | MR_LOG_NO_VALUE);
    return mr_log_head(mr_log_kind_of(head), detail, code);
}

static inline unsigned mr_log_site_of(uint64_t site_head)
{
    uint64_t code = mr_log_payload(site_head);
    return (unsigned)((code ^ code >> MR_LOG_SITE_BITS ^ mr_log_kind_of(site_head) << 8) &
                      ((1u << MR_LOG_SITE_BITS) - 1));
}

/* Where the value of an address is. */
static inline unsigned mr_log_value_of(uint64_t head, uint64_t address)
{
    return (unsigned)(address >> (head >> 8 & 3) & ((1u << MR_LOG_VALUE_BITS) - 1));
}

/* Where the entry of a function is. */
static inline unsigned mr_log_entry_of(uint64_t caller, uint64_t code)
{
    uint64_t mixed = code + 5 * caller;
    return (unsigned)((mixed ^ mixed >> MR_LOG_ENTRY_BITS) & ((1u << MR_LOG_ENTRY_BITS) - 1));
}

static inline bool mr_log_is_short(unsigned kind)
{
    return kind >= MR_LOG_SHORT && kind <= MR_LOG_SHORT_WIDE;
}

/* Does it fit into MR_LOG_SHORT_BITS? */
static inline bool mr_log_fits_short(int64_t number)
{
    return (uint64_t)(number + (1 << (MR_LOG_SHORT_BITS - 1))) < 1u << MR_LOG_SHORT_BITS;
}

/* Reader: a READ or WRITE record. */
static inline void mr_log_learn(mr_log_model *model, const uint64_t *record)
{
    uint64_t head = mr_log_site_head(record[0], mr_log_code(record[1]));
    uint64_t address = mr_log_payload(record[0]);
    model->sites[mr_log_site_of(head)] = (mr_log_site){head, address};
    model->values[mr_log_value_of(head, address)] = mr_log_value(record);
}

/* Reader: a short record as a READ or WRITE record of three words; false: of no known site. */
static inline bool mr_log_expand(mr_log_model *model, const uint64_t *record, uint64_t *expanded)
{
    uint64_t word = record[0];
    mr_log_site *site = &model->sites[word >> MR_LOG_KIND_BITS & ((1u << MR_LOG_SITE_BITS) - 1)];
    int64_t distance =
        (int64_t)(word << (64 - MR_LOG_SHORT_VALUE_SHIFT)) >> (64 - MR_LOG_SHORT_BITS);
    if (mr_log_kind_of(site->head) != MR_LOG_READ && mr_log_kind_of(site->head) != MR_LOG_WRITE) {
        return false;
    }
    site->address = (site->address + (uint64_t)distance) & 0xffffffffffffu;
    int64_t *known = &model->values[mr_log_value_of(site->head, site->address)];
    if (mr_log_kind_of(word) == MR_LOG_SHORT) {
        *known = (int64_t)word >> MR_LOG_SHORT_VALUE_SHIFT;
    } else if (mr_log_kind_of(word) == MR_LOG_SHORT_WIDE) {
        *known = (int64_t)record[1];
    }
    expanded[0] = mr_log_head(mr_log_kind_of(site->head), mr_log_detail(site->head), site->address);
    expanded[1] = mr_log_payload(site->head);
    expanded[2] = (uint64_t)*known;
    return true;
}

/* Reader: an ENTRY record. */
static inline void mr_log_learn_entry(mr_log_model *model, const uint64_t *record)
{
    uint64_t caller = mr_log_payload(record[0]), code = mr_log_code(record[1]);
    model->entries[mr_log_entry_of(caller, code)] = (mr_log_entry){caller, code, record[2]};
}

/* Reader: an ENTER record as four words: the head, with where the function was called as payload,
 * the code address of the entry, stack pointer and frame pointer (0: not known). False: there is no
 * such entry. */
static inline bool mr_log_expand_enter(const mr_log_model *model, const uint64_t *record,
                                       uint64_t *expanded)
{
    unsigned number = (unsigned)(record[0] >> MR_LOG_KIND_BITS & ((1u << MR_LOG_ENTRY_BITS) - 1));
    const mr_log_entry *entry = &model->entries[number];
    expanded[0] = mr_log_head(MR_LOG_ENTER, 0, entry->caller);
    expanded[1] = entry->code;
    expanded[2] = (record[0] >> MR_LOG_STACK_SHIFT) * MR_LOG_STACK_UNIT;
    expanded[3] = entry->frame ? expanded[2] + entry->frame : 0;
    return entry->code != 0;
}

#endif
