/*
 * shared: what the workers of a hunt share (hunt.h), and the parts of their work: hunt.c decides what is
 * tried and when it is over, worker.c tries it, keep.c saves what was found, others.c knows what other sessions have done.
 *
 * Several processes may hunt in one folder. What they have done is in the journal, what they have in hand are claims (claims.h).
 * Who decides by that, or adds to it, is between mr_hunt_share and mr_hunt_unshare: it has read all of the journal, and nobody else
 * writes to it.
 */
#ifndef MR_HUNT_SHARED_H
#define MR_HUNT_SHARED_H

#include "claims.h"
#include "hunt.h"
#include "hunt/frontier/frontier.h"
#include "hunt/frontier/tasks.h"
#include "hunt/frontier/way.h"
#include "hunt/guide/guide.h"
#include "hunt/program/behaviour.h"
#include "hunt/program/runner.h"
#include "store.h"

#include <pthread.h>

/* All but `options`, `store` and `descriptors` is guarded by `lock`. */
typedef struct mr_hunting {
    const mr_hunt_options *options;
    mr_store_folder store;
    mr_claims claims;
    mr_descriptors descriptors; /* that the program begins with; owned */
    uint64_t seed;              /* of this process */
    mr_config *config;          /* for predictions; owned */
    mr_input_source *source;    /* NULL: no inputs are searched for */
    mr_guide *guide;            /* NULL: none */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    mr_hunt_state state;
    mr_tasks tasks;
    mr_map signatures;      /* of behaviours: number + 1 */
    mr_map found;           /* identities of findings: number + 1 */
    mr_map shape;           /* hashes of outputs */
    mr_run_end reference;   /* the end of the first run */
    bool has_reference;     /* … and it is there */
    uint64_t longest_log;   /* bytes; of the runs of this session that ended by themselves */
    unsigned busy;          /* workers that try something … */
    unsigned undecided;     /* … of which it is not known yet whether it can be run */
    uint64_t started;       /* number of the last run that has begun, here or elsewhere */
    uint32_t last_finding;  /* its number */
    mr_u32s unread, depths; /* behaviours of other sessions, and how many tasks led to each */
    size_t next_unread;     /* from here on it is not known what they lead to */
    bool has_begun;         /* what comes now from other sessions is of those that run now */
    uint32_t asked;         /* of the engine, and answered by no, since a run ended */
    uint32_t halvings;      /* of how many it is asked between two runs (hunt.c) */
    uint64_t quiet;         /* free runs since something was new */
    double begin, before;   /* seconds: when this session began; of earlier ones */
    bool met;               /* what `until` asks for */
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

/* hunt.c: what to try next; false: the hunt is over. */
bool mr_hunt_next(mr_hunting *hunt, mr_task *task);
/* hunt.c: a task can be run, and the run gets its number; 0: other processes have used up the budget of runs, and the task is over.
 * The engine may have said that it can. */
mr_status mr_hunt_begin(mr_hunting *hunt, const mr_task *task, uint64_t *number, mr_error *error);
/* hunt.c: how long the log of the next run may be, in bytes. Takes the lock. */
uint64_t mr_hunt_log_bytes(mr_hunting *hunt);
/* hunt.c: a task turned out to be impossible. */
void mr_hunt_impossible(mr_hunting *hunt, const mr_task *task);
/* hunt.c: one finding more. False: no memory. */
bool mr_hunt_state_add(mr_hunt_state *state, const mr_finding_line *line);
/* hunt.c: an error ends the hunt. */
void mr_hunt_fail(mr_hunting *hunt, mr_status status, const mr_error *error);

/* others.c, both with `lock`: waits until this process may write to the journal, and reads what others have written; then ends
 * that, also after an error. MR_ERR_IO, MR_ERR_TRACE, MR_ERR_MEMORY. */
mr_status mr_hunt_share(mr_hunting *hunt, mr_error *error);
void mr_hunt_unshare(const mr_hunting *hunt);
/* others.c: the tasks of behaviours that only other sessions know. The errors of mr_predict. */
mr_status mr_hunt_learn(mr_hunt_worker *worker, mr_error *error);
/* others.c: the same of all that is in the folder, before the hunt goes on. */
mr_status mr_hunt_take_up(mr_hunt_worker *worker, mr_error *error);

/* worker.c: is this the first run with the finding? Then it is `mine` to save, with a number in `*line`. Takes the lock. */
mr_status mr_hunt_claim(mr_hunting *hunt, const mr_run_outcome *outcome, uint64_t run,
                        mr_finding_line *line, bool *mine, mr_error *error);
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
