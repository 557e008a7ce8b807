/*
 * log_short: most accesses in one to three units of 32 bits, and entries of functions in one word.
 * Writer and reader keep the same three tables, a mr_log_model, and a record of an access of 1 to 8
 * bytes says only what they do not tell:
 *
 * - sites: what an instruction does, and which address it accessed last. A record of kind READ or
 *   WRITE puts its instruction in; later ones name its place, and the distance to the last address
 *   An instruction has several sites when it accesses memory that is far apart, as heaps of
 *   threads, stacks and static variables are
 * - values: what was seen at an address, for a few thousand of them. No address is kept: both sides
 *   look at the same place, whatever it stands for
 *
 * As in the predictors of Burtscher's VPC (IEEE Trans. Computers 54, 2005), in whole units, so that
 * it takes a few instructions.
 *
 *     bits  0..1   form: SAME (the value is that of the table), 32 (it is in the next unit,
 *                  signed), 64 (in the next two); never 0
 *     bits  2..13  site
 *     bits 14..31  address minus the site's last address, signed
 *
 * A greater distance makes two units, with a head as all records have. They begin at any unit:
 *
 *     bits  0..7   kind: FAR_SAME, FAR, FAR_WIDE, as the forms above
 *     bits  8..19  site
 *     bits 20..63  address minus the site's last address, signed
 *
 * The value of a write comes after its record, and perhaps after that of a read: so a write is
 * never SAME, and has 64 bits when it is of 8 bytes, else 32.
 *
 * A volatile access and a read that is ignored have no short record: readers look at each of them.
 *
 * Only READ and WRITE records and the short ones change these tables; atomics and ranges do not.
 *
 * - entries: which function is entered, from where, and how its frame pointer lies to its stack
 *   pointer. A record ENTRY puts one in; the ENTER behind it, and later ones, name its place and
 *   say where the stack pointer is
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
    MR_LOG_PART_BITS = 26, /* a part of memory with sites of its own, as malloc's of a thread */
    MR_LOG_VALUE_BITS = 14,
    MR_LOG_ENTRY_BITS = 12,
    MR_LOG_FORM_BITS = 2,
    MR_LOG_DISTANCE_SHIFT = MR_LOG_FORM_BITS + MR_LOG_SITE_BITS,
    MR_LOG_FAR_SHIFT = MR_LOG_KIND_BITS + MR_LOG_SITE_BITS,
    MR_LOG_STACK_SHIFT = 20,
    MR_LOG_STACK_UNIT = 16, /* stack pointers at calls are multiples of it */
    MR_LOG_EXPANDED_WORDS = 4,
    MR_LOG_PADDING_UNIT = MR_LOG_PADDING << MR_LOG_FORM_BITS,
};

/* Also the number of units of a short record. */
typedef enum mr_log_form {
    MR_LOG_FORM_NONE,
    MR_LOG_FORM_SAME,
    MR_LOG_FORM_32,
    MR_LOG_FORM_64,
} mr_log_form;

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

/* Where the site of a READ or WRITE at this code address is. */
static inline unsigned mr_log_site_of(unsigned kind, uint64_t code, uint64_t address)
{
    uint64_t mixed = code ^ code >> MR_LOG_SITE_BITS ^ address >> MR_LOG_PART_BITS;
    return ((unsigned)mixed ^ kind << 8) & ((1u << MR_LOG_SITE_BITS) - 1);
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

/* Does the number fit into so many bits? */
static inline bool mr_log_fits(int64_t number, unsigned bits)
{
    return (uint64_t)number + ((uint64_t)1 << (bits - 1)) < (uint64_t)1 << bits;
}

static inline bool mr_log_fits_short(int64_t distance)
{
    return mr_log_fits(distance, 32 - MR_LOG_DISTANCE_SHIFT);
}

/* How a value is said where `known` is. Without jumps: they would be hard to foretell. */
static inline mr_log_form mr_log_form_for(int64_t value, int64_t known)
{
    unsigned wide = value != (int32_t)value;
    return (mr_log_form)(MR_LOG_FORM_SAME + (unsigned)(value != known) * (1 + wide));
}

static inline uint32_t mr_log_short(mr_log_form form, unsigned site, int64_t distance)
{
    return form | site << MR_LOG_FORM_BITS | (uint32_t)distance << MR_LOG_DISTANCE_SHIFT;
}

static inline bool mr_log_fits_far(int64_t distance)
{
    return mr_log_fits(distance, 64 - MR_LOG_FAR_SHIFT);
}

static inline uint64_t mr_log_far(mr_log_form form, unsigned site, int64_t distance)
{
    return mr_log_head(MR_LOG_FAR_SAME - MR_LOG_FORM_SAME + form, 0, 0) |
           (uint64_t)site << MR_LOG_KIND_BITS | (uint64_t)distance << MR_LOG_FAR_SHIFT;
}

static inline mr_log_form mr_log_form_of(uint32_t unit)
{
    return (mr_log_form)(unit & ((1u << MR_LOG_FORM_BITS) - 1));
}

static inline bool mr_log_is_far(unsigned kind)
{
    return kind >= MR_LOG_FAR_SAME && kind <= MR_LOG_FAR_WIDE;
}

/* Is it a record for mr_log_expand? */
static inline bool mr_log_is_short(uint32_t unit)
{
    return mr_log_form_of(unit) != MR_LOG_FORM_NONE || mr_log_is_far(mr_log_kind_of(unit));
}

/*
 * The number of units of the record that begins at `record`, of which `available` can be read; 0
 * when that is no record, or when that many units do not tell.
 */
static inline uint64_t mr_log_units(const uint32_t *record, uint64_t available)
{
    if (available == 0) {
        return 0;
    }
    unsigned kind = mr_log_kind_of(record[0]);
    if (mr_log_form_of(record[0]) != MR_LOG_FORM_NONE) {
        return mr_log_form_of(record[0]);
    }
    if (record[0] == MR_LOG_PADDING_UNIT) {
        return 1;
    }
    if (mr_log_is_far(kind)) {
        return 2 + kind - MR_LOG_FAR_SAME;
    }
    if ((uintptr_t)record % sizeof(uint64_t) != 0) {
        return 0;
    }
    return 2 * mr_log_words((const uint64_t *)(const void *)record, available / 2);
}

/* Reader: a READ or WRITE record. */
static inline void mr_log_learn(mr_log_model *model, const uint64_t *record)
{
    uint64_t head = mr_log_site_head(record[0], mr_log_code(record[1]));
    uint64_t address = mr_log_payload(record[0]);
    unsigned number = mr_log_site_of(mr_log_kind_of(head), mr_log_payload(head), address);
    model->sites[number] = (mr_log_site){head, address};
    model->values[mr_log_value_of(head, address)] = mr_log_value(record);
}

static inline int64_t mr_log_wide(const uint32_t *units)
{
    return (int64_t)(units[0] | (uint64_t)units[1] << 32);
}

/* A short record taken apart. */
typedef struct mr_log_parts {
    mr_log_form form;
    unsigned site;
    int64_t distance;
    const uint32_t *content; /* where its value is, or is to be */
} mr_log_parts;

static inline mr_log_parts mr_log_take_apart(const uint32_t *record)
{
    unsigned sites = (1u << MR_LOG_SITE_BITS) - 1;
    mr_log_form form = mr_log_form_of(record[0]);
    if (form != MR_LOG_FORM_NONE) {
        return (mr_log_parts){form, record[0] >> MR_LOG_FORM_BITS & sites,
                              (int32_t)record[0] >> MR_LOG_DISTANCE_SHIFT, record + 1};
    }
    form = (mr_log_form)(mr_log_kind_of(record[0]) - MR_LOG_FAR_SAME + MR_LOG_FORM_SAME);
    return (mr_log_parts){form, record[0] >> MR_LOG_KIND_BITS & sites,
                          mr_log_wide(record) >> MR_LOG_FAR_SHIFT, record + 2};
}

/* Reader: what a short record of this site and address tells. Returns where its value is. */
static inline const int64_t *mr_log_learn_short(mr_log_model *model, mr_log_site *site,
                                                const mr_log_parts *parts, uint64_t address)
{
    int64_t *known = &model->values[mr_log_value_of(site->head, address)];
    site->address = address;
    if (parts->form != MR_LOG_FORM_SAME) {
        *known = parts->form == MR_LOG_FORM_32 ? (int32_t)parts->content[0]
                                               : mr_log_wide(parts->content);
    }
    return known;
}

/* Reader: a short record as a READ or WRITE record of three words; false: of no known site. */
static inline bool mr_log_expand(mr_log_model *model, const uint32_t *record, uint64_t *expanded)
{
    mr_log_parts parts = mr_log_take_apart(record);
    mr_log_site *site = &model->sites[parts.site];
    unsigned kind = mr_log_kind_of(site->head);
    if (kind != MR_LOG_READ && kind != MR_LOG_WRITE) {
        return false;
    }
    uint64_t address = (site->address + (uint64_t)parts.distance) & 0xffffffffffffu;
    const int64_t *value = mr_log_learn_short(model, site, &parts, address);
    expanded[0] = mr_log_head(kind, mr_log_detail(site->head), address);
    expanded[1] = mr_log_payload(site->head);
    expanded[2] = (uint64_t)*value;
    return true;
}

/* Reader: an ENTRY record. */
static inline void mr_log_learn_entry(mr_log_model *model, const uint64_t *record)
{
    uint64_t caller = mr_log_payload(record[0]), code = mr_log_code(record[1]);
    model->entries[mr_log_entry_of(caller, code)] = (mr_log_entry){caller, code, record[2]};
}

/* The ENTER record of an entry. */
static inline uint64_t mr_log_enter_head(unsigned number, uint64_t stack)
{
    return mr_log_head(MR_LOG_ENTER, 0, 0) | (uint64_t)number << MR_LOG_KIND_BITS |
           stack / MR_LOG_STACK_UNIT << MR_LOG_STACK_SHIFT;
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
