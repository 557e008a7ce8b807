/*
 * shared: what the workers of a hunt share (hunt.h), and the parts of their work: hunt.c decides what is
 * tried and when it is over, worker.c tries it, keep.c saves what was found.
 */
#ifndef MR_HUNT_SHARED_H
#define MR_HUNT_SHARED_H

#include "hunt.h"
#include "hunt/frontier/frontier.h"
#include "hunt/frontier/tasks.h"
#include "hunt/frontier/way.h"
#include "hunt/program/behaviour.h"
#include "hunt/program/runner.h"
#include "store.h"

#include <pthread.h>

/* All but `options` and `store` is guarded by `lock`. */
typedef struct mr_hunting {
    const mr_hunt_options *options;
    mr_store_folder store;
    mr_config *config;       /* for predictions; owned */
    mr_input_source *source; /* NULL: no inputs are searched for */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    mr_hunt_state state;
    mr_tasks tasks;
    mr_map signatures;    /* of behaviours: number + 1 */
    mr_map found;         /* identities of findings: number + 1 */
    mr_map shape;         /* hashes of outputs */
    mr_run_end reference; /* the end of the first run */
    bool has_reference;   /* … and it is there */
    unsigned busy;        /* workers that try something */
    uint64_t started;     /* runs that have begun */
    uint32_t asked;       /* of the engine, and answered by no, since a run ended */
    uint32_t halvings;    /* of how many it is asked between two runs (hunt.c) */
    uint64_t quiet;       /* free runs since something was new */
    double begin, before; /* seconds: when this session began; of earlier ones */
    bool met;             /* what `until` asks for */
    bool over;
    mr_status status; /* of the worker that failed */
    mr_error error;
} mr_hunting;

/* A behaviour that a worker has read. */
typedef struct mr_parent {
    uint32_t number;
    uint64_t used; /* when, for the choice of who goes; 0: empty */
    mr_trace *trace;
    mr_positions positions;
    mr_run_info info;
    mr_way_index index;
    bool has_feed; /* it has inputs: they are in the file feed-NUMBER of the runner's folder */
} mr_parent;

enum { MR_PARENTS = 24 };

typedef struct mr_hunt_worker {
    mr_hunting *hunt;
    mr_runner runner;
    mr_parent parents[MR_PARENTS];
    uint64_t clock;
    mr_input_place place;        /* how the run under way gets its input; with a source */
    const mr_run_end *reference; /* how the first run of that input ended; NULL: this is it */
    pthread_t thread;
    bool started;
} mr_hunt_worker;

/* hunt.c: what to try next; false: the hunt is over. `number`: of the run, when there will be one. */
bool mr_hunt_next(mr_hunting *hunt, mr_task *task, uint64_t *number);
/* hunt.c: a task can be run; the engine may have said so. */
void mr_hunt_possible(mr_hunting *hunt, const mr_task *task);
/* hunt.c: a task turned out to be impossible. */
void mr_hunt_impossible(mr_hunting *hunt, const mr_task *task);
/* hunt.c: one finding more. False: no memory. */
bool mr_hunt_state_add(mr_hunt_state *state, const mr_finding_line *line);
/* hunt.c: an error ends the hunt. */
void mr_hunt_fail(mr_hunting *hunt, mr_status status, const mr_error *error);

/* worker.c: the thread of a worker. */
void *mr_hunt_work(void *worker);
void mr_parent_free(mr_hunt_worker *worker, mr_parent *parent);
/* worker.c: reads a behaviour's trace. */
mr_status mr_parent_read(mr_hunt_worker *worker, uint32_t number, mr_parent *parent,
                         mr_error *error);
/* worker.c: the request of a run under this number. */
mr_run_request mr_hunt_request(const mr_hunting *hunt, uint64_t number);

/* keep.c: saves a failure or a race as a folder. `request` has made the run. `*line` gets its number;
 * takes the lock. */
mr_status mr_hunt_keep(mr_hunt_worker *worker, const mr_run_request *request, mr_ran *ran,
                       const mr_run_outcome *outcome, mr_finding_line *line, mr_error *error);

#endif
