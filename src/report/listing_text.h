/* listing_text: lists of findings for people; for the files of src/report only. */
#ifndef MR_REPORT_LISTING_TEXT_H
#define MR_REPORT_LISTING_TEXT_H

#include "listing/listing.h"
#include "style.h"
#include "sweep/order_result.h"

/* False: no memory. Errors of the stream stay in it. */

/* A line for each group, the worst first: "t.c:7:64: race on q.tail between push and pop (race 3; 2 more
 * alike)", after an empty line; nothing without findings. Unless `all`, when there are more than nine groups of
 * one kind on one variable, one line stands for those behind the eighth. */
bool mr_listing_print_list(FILE *stream, const mr_listing *findings, const mr_trace *trace,
                           bool all, mr_style style);
/* A line for each finding, with the place of the other access; nothing else. */
bool mr_listing_print_brief(FILE *stream, const mr_listing *findings, const mr_trace *trace);
/* The places of the other findings of a group. */
void mr_listing_print_alike(FILE *stream, const mr_listing *findings, const mr_listed_group *group,
                            const mr_trace *trace);

/* A line for each error that happened and each static race of an order, but for those that are proven to
 * be none; the proven ones first: "t.c:7: race on q.tail between push and pop (static race 3; candidate)",
 * after an empty line. `brief`: "t.c:7: race on q.tail between push and pop; and t.c:20 (candidate)", and
 * nothing else. Needs no columns, unless errors happened. */
bool mr_listing_print_order(FILE *stream, const mr_order_result *result, const mr_trace *trace,
                            mr_style style, bool brief);
const char *mr_standing_text(mr_standing standing); /* "proven", "candidate" */

#endif
