/*
 * visits: which gaps (gaps.h) access bytes that are kept (pieces.h). A pass over the log need not look at
 * the accesses of the others.
 *
 * The first pass says in which gap it is. Each line of memory has a list of the gaps that access it. When
 * bytes of the line are kept, these gaps are marked, and so is each gap that accesses such bytes later.
 *
 *   (mr_visits_come_to | (mr_visits_enter → (mr_visits_note | mr_visits_mark | mr_visits_mark_all)* →
 *    mr_visits_leave) | mr_visits_settle* → mr_visits_judge)* → mr_visits_end → mr_visits_has*
 *
 * Memory: a bit for each gap and, before mr_visits_end, 8 bytes for each line and gap that accesses it. These
 * may take 8 MB, or an eighth of the log when that is more. When they would take more, when there is no
 * memory, or when most gaps are marked, it gives up: all gaps count as marked.
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
    uint32_t seen;   /* of the last gap where it was, plus 1 */
    uint32_t marked; /* gaps */
    uint32_t spare;  /* items that are free; number plus 1; 0: none */
    mr_visit *items; /* owned */
    size_t count, capacity, limit; /* of items */
    uint64_t *marks;               /* owned; bits, by number of the gap */
    size_t words;
    bool given_up; /* also set by the caller, before the first gap */
} mr_visits;

#define MR_VISITS_SETTLED UINT32_MAX

/* The gaps of a line. Zero-initialise. */
typedef struct mr_visit_list {
    uint32_t gap; /* the last one, plus 1 */
    uint32_t
        first; /* number plus 1; 0: none; MR_VISITS_SETTLED: all are marked, and others will be */
} mr_visit_list;

void mr_visits_free(mr_visits *visits);

/* The pass has come to this unit of the log. */
void mr_visits_come_to(mr_visits *visits, uint64_t unit);

/* It is in the gap of this number; in none. */
static inline void mr_visits_enter(mr_visits *visits, size_t gap)
{
    visits->now = visits->given_up ? 0 : (uint32_t)gap + 1;
}
static inline void mr_visits_leave(mr_visits *visits)
{
    visits->seen = visits->now ? visits->now : visits->seen;
    visits->now = 0;
}

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

/* Each access of the line is one of kept bytes, or may be: marks all gaps of the list, and those that access
 * the line later. Outside of a gap. */
void mr_visits_settle(mr_visits *visits, mr_visit_list *list);
/* Gives up when more than half of the gaps are marked. */
void mr_visits_judge(mr_visits *visits);

/* All gaps are marked that will be: frees the lists. */
void mr_visits_end(mr_visits *visits);

bool mr_visits_has(const mr_visits *visits, size_t gap);

#endif
