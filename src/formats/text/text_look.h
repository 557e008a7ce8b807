/*
 * text_look: takes ordinary lines of a text trace apart, without knowing the lines before them, so
 * that another thread can do it ahead (text_ahead.h).
 *
 * A line is ordinary when it has the plain shape thread|op(name)|location or
 * thread|op(name=value)|location with the operand's end within 64 bytes, is complete, and is an
 * access, a branch, or an operation on a lock. There is hardly a branch that depends on the bytes of
 * a line, and no loop over them.
 */
#ifndef MR_FORMATS_TEXT_LOOK_H
#define MR_FORMATS_TEXT_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MR_TEXT_LOOK_OPS = 32, MR_TEXT_LOOK_BATCH = 16 };

/* What is done with a line. */
enum {
    MR_TEXT_ELSEWHERE, /* it is not ordinary: parse.h takes it */
    MR_TEXT_ACCESS,
    MR_TEXT_LOCK,
    MR_TEXT_BRANCH,
};

/* Four bytes, copied as one word. */
typedef struct mr_text_kind {
    uint8_t op;
    uint8_t way;
    uint8_t memory_order;
    uint8_t has_value : 1, knows_location : 1;
} mr_text_kind;

typedef struct mr_text_op {
    uint64_t word; /* the operation's name as a word */
    mr_text_kind kind;
} mr_text_op;

typedef struct mr_text_ops {
    mr_text_op slots[MR_TEXT_LOOK_OPS]; /* by a hash of the word without collisions */
    uint64_t multiplier;                /* of the hash */
} mr_text_ops;

/* A line taken apart, 32 bytes. Of one that is not ordinary only `kind.way`, `start` and `length`
 * are set. */
typedef struct mr_looked {
    int64_t value;      /* when it has one and values are wanted */
    uint32_t start;     /* from the base that the caller gave */
    uint32_t length;    /* with the newline */
    uint32_t name_hash; /* of the key (mr_names_key) */
    union {
        uint32_t location_hash; /* likewise, or */
        uint32_t location;      /* knows_location: the number of the name (text_ahead.h) */
    };
    mr_text_kind kind;
    uint8_t thread_length;
    uint8_t name_start, name_length;            /* from the start of the line; likewise the next */
    uint8_t location_start : 7, has_return : 1; /* has_return: a '\r' comes before the newline */
} mr_looked;

_Static_assert(sizeof(mr_looked) == 32, "half a cache line");

static inline uint32_t mr_looked_location_length(const mr_looked *line)
{
    return line->length - 1 - line->location_start - line->has_return;
}

void mr_text_ops_init(mr_text_ops *ops);

/* How a look goes. */
typedef struct mr_text_look {
    const mr_text_ops *ops;
    bool keep_values; /* else they are checked only */
    bool stop_at_odd; /* stop at a line that is not ordinary; else say so and go on */
} mr_text_look;

/* Looks at up to `most` <= MR_TEXT_LOOK_BATCH complete lines within [from, end) of `base`, of which
 * MR_LINES_BEYOND_BYTES more can be read. Returns how many are in `lines`. */
uint32_t mr_text_look_at(const mr_text_look *look, const char *base, size_t from, size_t end,
                         uint32_t most, mr_looked *lines);

#endif
