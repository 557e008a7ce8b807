/*
 * parse: one line of a trace → the fields of an event or of a directive (docs/semantics.md 1).
 * Knows nothing of numbers, other lines or files; O(length of the line).
 *
 *   thread|op(operand)|location
 *   thread: any text without '|', not empty      location: any text, may be empty, may contain '|'
 *   operand: no '|', '(' or ')'; not empty where the operation has one
 *   value: what follows the last '='
 */
#ifndef MR_TRACE_PARSE_H
#define MR_TRACE_PARSE_H

#include "base/error.h"
#include "op.h"
#include "slice.h"

/* The fields point into the line. */
typedef struct mr_parsed {
    mr_op op;
    mr_slice thread, location;
    mr_slice name; /* what the operand names; empty for operations without operand */
    bool has_value;
    int64_t value;         /* read or written; for au the one read */
    int64_t written_value; /* au only */
    mr_slice reach;        /* mbegin only: "x1,x2,…", may be empty */
} mr_parsed;

/* MR_OK or MR_ERR_TRACE; the error has a text but no place. */
mr_status mr_parse_event(mr_slice line, mr_parsed *parsed, mr_error *error);

/* A value: '-' or nothing, then digits. False: it is no number, or does not fit in 64 bits. */
bool mr_parse_number(mr_slice text, int64_t *number);

/* Takes the first name off a "x1,x2,…" list; false when the list is empty. */
bool mr_parse_next_name(mr_slice *list, mr_slice *name);

typedef enum mr_directive {
    MR_DIRECTIVE_LOCATION, /* #@loc 345 src/bank.c:67 */
    MR_DIRECTIVE_VARIABLE, /* #@var V12 bank.balance */
    MR_DIRECTIVE_THREAD,   /* #@thread T1 worker */
    MR_DIRECTIVE_LOCK,     /* #@lock L3 accounts_mu */
    MR_DIRECTIVE_COUNT
} mr_directive;

/* Reads a line that begins with '#'. The name goes up to the first blank, the text to the end of
 * the line. False: an ordinary comment (also a directive that lacks its name or text). */
bool mr_parse_directive(mr_slice line, mr_directive *directive, mr_slice *name, mr_slice *text);

#endif
