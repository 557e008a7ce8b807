/*
 * reason: why two accesses that conflict cannot race, in a form that can be said in a sentence or two.
 */
#ifndef MR_EXPLAIN_REASON_H
#define MR_EXPLAIN_REASON_H

#include "base/model.h"
#include "config/config.h"
#include "relax.h"

typedef enum mr_reason_kind {
    MR_REASON_FORK_JOIN, /* the first comes before the second by fork and join */
    MR_REASON_LOCK,      /* both threads hold a lock that only one may hold */
    MR_REASON_NEEDS,     /* the second cannot be reached without the first */
    MR_REASON_PROVEN,    /* no reordering ends in both; it takes a proof to see that */
    MR_REASON_OPEN,      /* not decided here within the limits */
    MR_REASON_NONE,      /* it is a race */
    MR_REASON_COUNT
} mr_reason_kind;

enum { MR_REASON_LINKS = 8, MR_REASON_CAUSES = 8, MR_REASON_TRIES = 32 };

/* What brings a thread behind the first access: a fork or join, a read of what must have been
 * written, a wait for what must have been posted, an acquire of what must have been released. */
typedef struct mr_reason_link {
    uint32_t event; /* of the thread that is held back */
    uint32_t from; /* the event that it comes after: the write, post, release; fork, join: itself */
} mr_reason_link;

/* Without it, the two would race. */
typedef struct mr_reason_cause {
    mr_relaxed kind;
    uint32_t name; /* MR_NONE: all of the kind together, and no single one that was tried */
} mr_reason_cause;

typedef struct mr_reason {
    mr_reason_kind kind;
    uint32_t first, second;                 /* the events */
    uint32_t lock;                          /* MR_REASON_LOCK */
    uint32_t first_acquire, second_acquire; /* likewise: where they took it */
    mr_reason_link links[MR_REASON_LINKS];  /* FORK_JOIN, NEEDS: from the first to the second */
    uint32_t link_count;
    bool more_links; /* the way is longer, or part of it cannot be said so */
    mr_reason_cause causes[MR_REASON_CAUSES]; /* NEEDS, PROVEN */
    uint32_t cause_count;
    bool causes_cut;              /* not all were tried, or one was not decided */
    mr_step step;                 /* PROVEN: that proved it */
    mr_unknown_reason unanswered; /* OPEN */
    uint32_t start, end;          /* NEEDS, PROVEN, OPEN: the window */
} mr_reason;

/* Does fork and join order them, or do both hold a lock? Looks at no reads. O(events up to
 * `second`). `kind` is MR_REASON_OPEN when neither is so. False: no memory. */
bool mr_reason_quick(const mr_trace *trace, uint32_t first, uint32_t second, mr_reason *reason);

/* Any reason, with the model and the limits of `config`; for a pair that mr_reason_quick leaves open.
 * MR_ERR_MEMORY. Decides the pair in the whole trace when that is short enough, else in a window
 * (dump/pair_problem.h), then again for each constraint that is taken away. */
mr_status mr_reason_find(const mr_trace *trace, const mr_config *config, mr_reason *reason,
                         mr_error *error);

#endif
