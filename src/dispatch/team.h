/*
 * team: the ranks of one prediction (cluster.h), what they agree on, and their messages.
 *
 *   mr_team_meet → mr_predict (crew.h: phase by phase) → mr_team_part → mr_team_free
 *
 * Every rank reads the trace and goes through the same phases. Rank 0 shares out the units of a
 * phase, merges their outcomes in order, and sends each one that it merges to all others, who merge
 * it, too: so all ranks know the same at the end of a phase, and plan the same next one. Only rank
 * 0 reports and writes files.
 *
 *   rank 0 → others   WELCOME (all may begin) | END (the run is over)
 *                     in a phase: UNITS (to decide), MERGED (an outcome), HALT (stop deciding)
 *   others → rank 0   HELLO, in a phase: READY (it has been entered), OUTCOME; BYE
 *
 * Whatever goes wrong, the run ends with one error, which rank 0 has: it names the rank. A rank
 * that fails says so in its BYE; one that is lost is noticed by who carries the messages.
 */
#ifndef MR_DISPATCH_TEAM_H
#define MR_DISPATCH_TEAM_H

#include "base/bytes.h"
#include "base/error.h"
#include "base/halt.h"
#include "cluster.h"
#include "config/config.h"
#include "predict/result.h"
#include "trace/trace.h"

/* What rank 0 knows of a rank. */
typedef struct mr_member {
    unsigned jobs;
    bool gone; /* it has said goodbye, or is lost */
    uint64_t phase,
        units;     /* the last phase that it has entered, and how many units it sees there */
    uint64_t away; /* units it was given and has not brought back */
} mr_member;

typedef struct mr_team {
    const mr_cluster *cluster;
    mr_halt *halt;      /* of this rank; rank 0 passes its own on to all */
    mr_member *members; /* owned: one a rank, used by rank 0 */
    uint64_t phase;     /* number of the one under way, from 1 */
    bool over;          /* END has been sent or has come: no more phases */
    bool broken;        /* somebody is lost: there can be no orderly end */
    mr_run others;      /* of rank 0: the times of those that have said goodbye */
} mr_team;

/* Of a rank. */
typedef struct mr_hello {
    const mr_trace *trace; /* NULL: it could not be read */
    const mr_config *config;
    unsigned jobs;
} mr_hello;

/*
 * Every rank tells how it stands; `status` and `error` are why it cannot take part. The run begins
 * when all can, read the same trace, and have the same version and settings. On rank 0, the error
 * of the first that cannot, with its name. On others MR_OK: when team->over is set afterwards, the
 * run is over, and rank 0 has told why. `halt` is used until the end. `team` is to be freed also
 * after an error.
 */
mr_status mr_team_meet(mr_team *team, const mr_cluster *cluster, mr_halt *halt,
                       const mr_hello *hello, mr_status status, mr_error *error);

/* The end, on every rank: rank 0 waits until all have stopped, and adds their times to `run`; on
 * others `status` and `error` are why they end (MR_OK: nothing is wrong). False: not all can be
 * heard of. */
bool mr_team_part(mr_team *team, mr_status status, const mr_error *error, mr_run *run);
void mr_team_free(mr_team *team);

/* ---- for phases ---- */

typedef enum mr_word {
    MR_WORD_HELLO = 1,
    MR_WORD_WELCOME,
    MR_WORD_END,
    MR_WORD_READY,   /* phase, units */
    MR_WORD_UNITS,   /* phase, count, units in ascending order */
    MR_WORD_OUTCOME, /* phase, worker, microseconds, partly?, then outcome.h */
    MR_WORD_MERGED,  /* phase, then outcome.h */
    MR_WORD_HALT,    /* reason */
    MR_WORD_BYE,     /* status, its error; the times of the rank */
} mr_word;

typedef struct mr_message {
    unsigned from;
    mr_word word;
    mr_bytes_reader in; /* what comes after the word */
    uint8_t *bytes;     /* owned */
} mr_message;

/* Starts a message. */
void mr_team_write(mr_bytes *bytes, mr_word word);
/* Sends it, and frees it. MR_ERR_MEMORY; MR_ERR_IO: the rank is lost, which is noted. */
mr_status mr_team_send(mr_team *team, unsigned to, mr_bytes *bytes, mr_error *error);
/* The same to all others who are there. */
mr_status mr_team_send_all(mr_team *team, mr_bytes *bytes, mr_error *error);

/* The next message, if there is one (mr_message_free); LOST: of `from`, which is noted. */
mr_arrival mr_team_receive(mr_team *team, mr_message *message);
void mr_message_free(mr_message *message);

/* A BYE, on rank 0. Its error, with the name of the rank; MR_OK: it has none. */
mr_status mr_team_read_bye(mr_team *team, mr_message *message, mr_error *error);

/* Errors with the name of a rank: what it sent makes no sense; it is lost; it was
 * halted by itself. */
mr_status mr_team_garbled(const mr_team *team, unsigned rank, mr_error *error);
mr_status mr_team_lost(const mr_team *team, unsigned rank, mr_error *error);
mr_status mr_team_left(const mr_team *team, unsigned rank, mr_error *error);

#endif
