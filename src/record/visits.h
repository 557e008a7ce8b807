/*
 * visits: which gaps (gaps.h) access bytes that are kept (pieces.h). A pass over the log need not look at
 * the accesses of the others.
 *
 * The first pass says in which gap it is. Each line of memory has a list of the gaps that access it. When
 * bytes of the line are kept, these gaps are marked, and so is each gap that accesses such bytes later.
 *
 *   (mr_visits_come_to | mr_visits_note | mr_visits_mark | mr_visits_mark_all)* → mr_visits_end → mr_visits_has*
 *
 * Memory: a bit for each gap and, before mr_visits_end, 8 bytes for each line and gap that accesses it. These
 * may take 8 MB, or an eighth of the log when that is more. When they would take more, or there is no
 * memory, all gaps count as marked.
 */
#ifndef MR_RECORD_VISITS_H
#define MR_RECORD_VISITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mr_visit {
    uint32_t gap, next; /* `next`: number plus 1; 0: last */
} mr_visit;

/* Zero-initialise. */
typedef struct mr_visits {
    uint32_t now;    /* number of the gap where the first pass is, plus 1; 0: it is in none */
    mr_visit *items; /* owned */
    size_t count, capacity, limit; /* of items */
    uint64_t *marks;               /* owned; bits, by number of the gap */
    size_t words;
    bool given_up;
} mr_visits;

/* The gaps of a line. Zero-initialise. */
typedef struct mr_visit_list {
    uint32_t gap;   /* the last one, plus 1 */
    uint32_t first; /* number plus 1; 0: none */
} mr_visit_list;

void mr_visits_free(mr_visits *visits);

/* The pass has come to this unit of the log. */
void mr_visits_come_to(mr_visits *visits, uint64_t unit);

/* Adds the current gap to the list. */
void mr_visits_add(mr_visits *visits, mr_visit_list *list);

/* A line is accessed in the current gap. */
static inline void mr_visits_note(mr_visits *visits, mr_visit_list *list)
{
    if (list->gap != visits->now)
        mr_visits_add(visits, list);
}

/* Marks the current gap. */
void mr_visits_mark(mr_visits *visits);
/* Marks all gaps of the list. */
void mr_visits_mark_all(mr_visits *visits, const mr_visit_list *list);

/* All gaps are marked that will be: frees the lists. */
void mr_visits_end(mr_visits *visits);

bool mr_visits_has(const mr_visits *visits, size_t gap);

#endif
