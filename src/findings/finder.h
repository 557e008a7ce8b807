/*
 * finder: what the files of src/findings share: the questions, the windows they are asked in, and the
 * workers that ask them.
 */
#ifndef MR_FINDINGS_FINDER_H
#define MR_FINDINGS_FINDER_H

#include "far/reduce.h"
#include "find.h"
#include "pose.h"
#include "writes.h"

#include <pthread.h>

typedef struct mr_finder_worker {
    mr_worker worker; /* of the asked trace */
    mr_problem problem;
    uint32_t start, end; /* the window of `problem`, in the arena; start == end: there is none */
    mr_u32s fitting;     /* the writes that the question under way asks for (writes.h); owned */
    mr_u32s open;        /* the questions of the group under way that have no answer yet; owned */
    uint32_t windows;    /* around questions of this group that showed nothing */
    uint32_t looks, proofs_by_look; /* at the whole trace, for this group */
} mr_finder_worker;

typedef struct mr_finder {
    const mr_far_context *context;
    mr_questions questions;
    uint32_t
        *of_group; /* the questions of group g: of_group[group_first[g] … group_first[g + 1]) */
    uint32_t *group_first;  /* both owned */
    bool whole_scope;       /* the whole trace, else the windows of the plan */
    mr_reduction reduction; /* whole_scope; owned */
    mr_asked_trace asked;
    uint32_t *listed;       /* asked.listed; owned */
    mr_asked_writes writes; /* owned */
    mr_carried carried;     /* whole_scope: of the whole window; owned */
    mr_arena arena;         /* likewise */
    mr_problem whole;       /* likewise */
    bool has_whole;
    bool no_room;               /* the whole window would not fit into the memory that is left */
    uint64_t held_bytes;        /* of the room, for the whole window */
    mr_finder_worker **workers; /* one a job, made when it is needed; owned */
    bool explain_cycles;
    pthread_mutex_t lock; /* of `spent` */
    uint64_t spent;       /* effort of the outcomes that were merged */
} mr_finder;

/* scope.c: collects the questions, reduces the trace and builds the whole window. To be freed also after
 * an error. MR_ERR_MEMORY. */
mr_status mr_finder_init(mr_finder *finder, const mr_far_context *context,
                         const mr_findings_wanted *wanted, mr_error *error);
void mr_finder_free(mr_finder *finder);

/* scope.c: the worker of that number. */
mr_status mr_finder_worker_get(mr_finder *finder, unsigned number, mr_finder_worker **worker,
                               mr_error *error);

/* decide.c: decides the questions of a group. The arena of the worker is used. `*halted`: the run is to
 * end, and the verdict is not to be used. */
mr_status mr_finder_decide(mr_finder *finder, mr_finder_worker *worker, uint32_t group,
                           mr_finding_verdict *verdict, bool *halted);

#endif
