/*
 * parse: one line of a trace → the fields of an event or of a directive (docs/semantics.md 1).
 * Knows nothing of numbers, other lines or files; O(length of the line).
 *
 *   thread|op(operand)|location
 *   thread: any text without '|', not empty      location: any text, may be empty, may contain '|'
 *   operand: no '|', '(' or ')'; not empty where the operation has one
 *   value: what follows the last '='
 *   memory order: .rlx .acq .rel .acqrel .sc behind ar, aw, au and fence
 */
#ifndef MR_FORMATS_TEXT_PARSE_H
#define MR_FORMATS_TEXT_PARSE_H

#include "base/error.h"
#include "trace/parsed.h"

/* MR_OK or MR_ERR_TRACE; the error has a text but no place. */
mr_status mr_parse_event(mr_slice line, mr_parsed *parsed, mr_error *error);

/* A value: '-' or nothing, then digits. False: it is no number, or does not fit in 64 bits. */
bool mr_parse_number(mr_slice text, int64_t *number);

/* Is it a line "#@in VARIABLE OBJECT", and which? The variable goes up to the first blank, the
 * object to the end of the line. mr_parse_member: as mr_parse_event. */
bool mr_parse_is_member(mr_slice line);
mr_status mr_parse_member(mr_slice line, mr_slice *variable, mr_slice *object, mr_error *error);

/* Reads a line that begins with '#'. The name goes up to the first blank, the text to the end of
 * the line. False: an ordinary comment (also a directive that lacks its name or text). */
bool mr_parse_directive(mr_slice line, mr_directive *directive, mr_slice *name, mr_slice *text);

#endif
