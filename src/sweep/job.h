/* job: the state of one sweep, shared by the files of src/sweep. */
#ifndef MR_SWEEP_JOB_H
#define MR_SWEEP_JOB_H

#include "sweep.h"

typedef struct mr_sweep_job {
    mr_sweep *sweep;
    const char *path;
    const mr_trace *given; /* in memory already, on loan; NULL: it is read from `path` */
    const mr_config *config;
    const mr_progress *progress;
    mr_relation relation;
    mr_halt *halt;                  /* of the caller or of the sweep: also asked by a ceiling */
    struct mr_sweep_shared *shared; /* beside.h */
    bool check, mark, confirm;      /* the configuration's witness.check, mark, confirm */
    mr_error *error;
    mr_error later; /* of what fails behind the first error */
} mr_sweep_job;

/* find.c: fills the list of the result, and `names`. After an error of the file they are about the
 * events before the damage. The watch sees the events of a stream. */
struct mr_watch;
mr_status mr_sweep_find(const mr_sweep_job *job, struct mr_watch *watch);

/* find.c: reads the file into memory. After MR_ERR_TRACE, `*trace` may hold the events before the damage. */
mr_status mr_sweep_read(const mr_sweep_job *job, uint64_t least_events, bool without_values,
                        mr_trace **trace);

/* find.c: reads the file into memory as `loaded`, unless it is there; with `least_events` it may be so many of
 * its first events only (0: all). Of a damaged file it reads the events before the damage and returns
 * MR_OK, because mr_sweep_find has reported the damage. */
mr_status mr_sweep_load(const mr_sweep_job *job, uint64_t least_events);

/* find.c: how the configuration says that the file is read. */
mr_read_options mr_sweep_read_options(const mr_sweep_job *job);

/* find.c: can the file be read a second time? */
bool mr_sweep_reads_again(const mr_sweep_job *job);

/* Will races be proven when there are any? */
static inline bool mr_sweep_proves(const mr_sweep_job *job)
{
    return mr_relation_sound(job->relation) ? job->check : job->mark || job->confirm;
}

/* Will races be proven by those of sound orders? */
static inline bool mr_sweep_marks(const mr_sweep_job *job)
{
    return job->mark && !mr_relation_sound(job->relation);
}

/* prove.c: fills `races` of the result. */
mr_status mr_sweep_prove(const mr_sweep_job *job);

#endif
