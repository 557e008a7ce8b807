/*
 * text_fast: the ordinary lines of a text trace (text_look.h), taken straight from the buffer of
 * lines.h.
 *
 * Here they are the lines of a thread that is running, or operations on a lock that is known and
 * allowed. Such a line cannot be wrong, so nothing here knows about errors. Any other line is left
 * alone: the caller takes it through mr_lines_next and parse.h, which decide exactly.
 *
 * Lines are first looked at some at a time, by another thread when there is one (text_ahead.h), and
 * the slots of their names fetched into the cache; then they are taken one after the other. A line
 * takes the time of some hundred instructions (about 40 ns at 3.7 GHz, half of it for looking), more
 * where most names are new.
 */
#ifndef MR_FORMATS_TEXT_FAST_H
#define MR_FORMATS_TEXT_FAST_H

#include "formats/pack/lines.h"
#include "text_ahead.h"
#include "text_look.h"
#include "trace/builder.h"
#include "trace/validity.h"

typedef struct mr_text_fast {
    mr_text_ops ops;
    mr_text_ahead *ahead; /* borrowed; NULL: the lines are looked at here */
    /* the thread of the line before: its name's first bytes, length and number */
    uint64_t thread_word;
    uint32_t thread_length, thread;
    const mr_looked *fetched; /* the lines that something was fetched for; NULL: none */
    uint32_t batch;           /* lines to look at before the first of them is taken */
} mr_text_fast;

void mr_text_fast_init(mr_text_fast *fast);

/* Takes ordinary lines until there is no room for rows or another kind of line comes; possibly
 * none. MR_ERR_MEMORY, MR_ERR_IO (spill.h). */
mr_status mr_text_fast_take(mr_text_fast *fast, mr_lines *lines, mr_validity *validity,
                            mr_builder *builder, mr_rows *rows, mr_error *error);

#endif
