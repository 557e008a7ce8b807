/*
 * pictures: the steps of findings as JSON, with texts by number; for the files of src/report only.
 *
 *   {"events": {"n": event, "t": thread, "o": text of the operation, "p": text of the place, "k": kind,
 *               "x": what it is about}, each an array with an element for each event that the picture shows,
 *    "observed": positions in these arrays, "witness": the same, "seenObserved", "seenWitness": for each position
 *    of the two the position of the write that it sees, -1: the initial value, -2: one that is not shown, -3: no read,
 *    "leftOut": events of the witness before the first one}
 *
 * A kind is a digit: 0 other, 1 read, 2 write, 3 update, 4 acquire, 5 release, 6 shared acquire, 7 shared release,
 * 8 start of a thread, 9 end or join of one.
 */
#ifndef MR_REPORT_HTML_PICTURES_H
#define MR_REPORT_HTML_PICTURES_H

#include "json_object.h"
#include "steps.h"

typedef struct mr_texts {
    mr_names names;
} mr_texts;

/* The number of a text; UINT32_MAX: no memory. */
uint32_t mr_texts_add(mr_texts *texts, const char *text);

mr_json mr_picture(const mr_steps *steps, const mr_trace *trace, mr_texts *texts);

#endif
