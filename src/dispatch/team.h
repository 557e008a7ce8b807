/*
 * team: the ranks of one run (cluster.h), what they agree on, and their messages.
 *
 *   mr_team_meet → (phases: dispatch.h) → mr_team_part → mr_team_free
 *
 * Every rank has the same input and goes through the same phases. Rank 0 shares out the units of a
 * phase, merges their outcomes in order, and sends each outcome that it merges to all other ranks,
 * which merge it as well. So all ranks know the same at the end of a phase, and plan the same next
 * phase. Only rank 0 reports and writes files.
 *
 *   rank 0 → others   WELCOME (all may begin; a rank with a part of the input has begun) | END (the run is over)
 *                     in a phase: UNITS (to decide), MERGED (an outcome), HALT (stop deciding)
 *   others → rank 0   HELLO, in a phase: READY (the rank has entered it), OUTCOME; BYE
 *
 * Whatever goes wrong, the run ends with one error, which rank 0 has and which names the rank. A
 * rank that fails says so in its BYE. The cluster notices a rank that is lost.
 */
#ifndef MR_DISPATCH_TEAM_H
#define MR_DISPATCH_TEAM_H

#include "base/bytes.h"
#include "base/error.h"
#include "base/halt.h"
#include "cluster.h"

/* What rank 0 knows of a rank; another rank knows only whether it is lost. */
typedef struct mr_member {
    unsigned jobs;
    bool gone; /* its BYE has come, or it is lost */
    /* The last phase that it has entered, the units of that phase, and what was noted before it (mr_dispatch_note) */
    uint64_t phase, units, plan;
    uint64_t away;    /* units that it has got, and of which it has sent no outcome */
    mr_bytes account; /* what its BYE has told; owned */
    bool has_part;    /* it has a part of the input, and decides units of its share only; then: */
    uint64_t next;    /*   in a phase, where its next unit is looked for */
} mr_member;

typedef struct mr_team {
    const mr_cluster *cluster;
    mr_halt *halt;      /* of this rank; rank 0 sends the reason of its own to all */
    mr_member *members; /* owned: one a rank, used by rank 0 */
    uint64_t phase;     /* number of the phase under way, from 1 */
    bool over;          /* END has been sent or has come: no more phases */
    bool welcomed; /* WELCOME was sent or has come; a rank with a part of the input begins before */
    bool broken;   /* a rank is lost: there can be no orderly end */
} mr_team;

/* What a rank says at the beginning. */
typedef struct mr_hello {
    unsigned jobs; /* its threads */
    /* It has only the part of the input that its share of the units needs (mr_is_of_rank of dispatch.h). Such a rank does
     * not wait for the others: it begins with units that rank 0 gives to nobody else. */
    bool has_part;
    const mr_bytes
        *subject; /* what it works on, and how; not read when the rank cannot take part */
    /* Compares, on rank 0, the subject of another rank with its own: MR_OK, or an error that says
     * what differs, with `name` as the name of the other rank. Bytes that make no sense: sets
     * theirs->damaged. */
    mr_status (*compare)(void *context, const char *name, mr_bytes_reader *theirs, mr_error *error);
    void *context;
} mr_hello;

/* What a rank tells of its work at the end. */
typedef struct mr_account {
    void *context;
    void (*write)(void *context, mr_bytes *bytes); /* on ranks other than 0 */
    void (*add)(void *context,
                mr_bytes_reader *from); /* on rank 0: what another rank has written */
} mr_account;

/*
 * Every rank says hello; `status` and `error` are why it cannot take part. The run begins when all
 * ranks can take part, have the same version of maxrace, and the same subject. On rank 0: the error
 * of the first rank that cannot take part, with its name. On others MR_OK: when team->over is set
 * afterwards, the run is over, and rank 0 has told why. `halt` is used until the end. `team` is to
 * be freed also after an error.
 */
mr_status mr_team_meet(mr_team *team, const mr_cluster *cluster, mr_halt *halt,
                       const mr_hello *hello, mr_status status, mr_error *error);

/* The end, on every rank. Rank 0 waits until all others have stopped, and adds up their accounts.
 * On others, `status` and `error` are why the rank ends (MR_OK: nothing is wrong). False: some rank
 * is lost. */
bool mr_team_part(mr_team *team, mr_status status, const mr_error *error,
                  const mr_account *account);
void mr_team_free(mr_team *team);

/* Has the rank died, or is it out of reach, as far as this rank knows? */
bool mr_team_has_lost(const mr_team *team, unsigned rank);

/* ---- for phases ---- */

typedef enum mr_word {
    MR_WORD_HELLO = 1,
    MR_WORD_WELCOME,
    MR_WORD_END,
    MR_WORD_READY,   /* phase, units, plan */
    MR_WORD_UNITS,   /* phase, count, units in ascending order */
    MR_WORD_OUTCOME, /* phase, unit, worker, microseconds, partly?, then the outcome as bytes */
    MR_WORD_MERGED,  /* phase, plan, unit, then the outcome as bytes */
    MR_WORD_HALT,    /* reason */
    MR_WORD_BYE,     /* status, its error; the account of the rank */
} mr_word;

typedef struct mr_message {
    unsigned from;
    mr_word word;
    mr_bytes_reader in; /* the bytes behind the word */
    uint8_t *bytes;     /* owned */
} mr_message;

/* Starts a message. */
void mr_team_write(mr_bytes *bytes, mr_word word);
/* Sends it, and frees it. MR_ERR_MEMORY; MR_ERR_IO: the rank is lost, which is noted. */
mr_status mr_team_send(mr_team *team, unsigned to, mr_bytes *bytes, mr_error *error);
/* Sends it to all other ranks that are not gone, and frees it. The same errors. */
mr_status mr_team_send_all(mr_team *team, mr_bytes *bytes, mr_error *error);

/* The next message, if there is one (mr_message_free). LOST: the rank `from` is, which is noted. */
mr_arrival mr_team_receive(mr_team *team, mr_message *message);
void mr_message_free(mr_message *message);

/* Reads a BYE, on rank 0, and keeps its account. Its error, with the name of the rank; MR_OK: it
 * has none. */
mr_status mr_team_read_bye(mr_team *team, mr_message *message, mr_error *error);

/* Errors with the name of a rank: its message makes no sense; the rank is lost; the rank was
 * halted, but rank 0 was not; the rank has noted something else than rank 0. */
mr_status mr_team_garbled(const mr_team *team, unsigned rank, mr_error *error);
mr_status mr_team_lost(const mr_team *team, unsigned rank, mr_error *error);
mr_status mr_team_left(const mr_team *team, unsigned rank, mr_error *error);
mr_status mr_team_differs(const mr_team *team, unsigned rank, mr_error *error);

#endif
