/*
 * text_fast: the ordinary lines of a text trace, taken straight from the buffer of lines.h.
 *
 * A line is ordinary when it has the plain shape thread|op(name)|location or
 * thread|op(name=value)|location with the operand's end within 64 bytes, is complete in the buffer,
 * and is an access or a branch of a thread that is running, or an operation on a lock that is known
 * and allowed. Such a line cannot be wrong, so nothing here knows about errors. Any other line is
 * left alone: the caller takes it through mr_lines_next and parse.h, which decide exactly.
 *
 * Lines are first looked at some at a time (where their parts are, the keys of their names, and the
 * slots of these fetched into the cache), then taken one after the other. There is hardly a branch
 * that depends on the bytes of a line, and no loop over them, so a line takes the time of some
 * hundred instructions (about 40 ns at 3.7 GHz, half of it for looking), more where most names are
 * new.
 */
#ifndef MR_FORMATS_TEXT_FAST_H
#define MR_FORMATS_TEXT_FAST_H

#include "formats/pack/lines.h"
#include "trace/builder.h"
#include "trace/validity.h"

enum { MR_TEXT_FAST_OPS = 32, MR_TEXT_FAST_BATCH = 16 };

/* Four bytes, copied as one word. */
typedef struct mr_text_fast_kind {
    uint8_t op;
    uint8_t way; /* what is done with it; 0: not here */
    uint8_t memory_order;
    uint8_t unused;
} mr_text_fast_kind;

typedef struct mr_text_fast_op {
    uint64_t word; /* the operation's name as a word */
    mr_text_fast_kind kind;
} mr_text_fast_op;

typedef struct mr_text_fast {
    mr_text_fast_op ops[MR_TEXT_FAST_OPS]; /* by a hash of the word without collisions */
    uint64_t multiplier;                   /* of the hash */
    /* the thread of the line before: its name's first bytes, length and number */
    uint64_t thread_word;
    uint32_t thread_length, thread;
    uint32_t ahead; /* lines to look at before the first of them is taken */
} mr_text_fast;

void mr_text_fast_init(mr_text_fast *fast);

/* Takes ordinary lines until there is no room for rows or another kind of line comes; possibly
 * none. MR_ERR_MEMORY, MR_ERR_IO (spill.h). */
mr_status mr_text_fast_take(mr_text_fast *fast, mr_lines *lines, mr_validity *validity,
                            mr_builder *builder, mr_rows *rows, mr_error *error);

#endif
