/*
 * play: a prediction by several ranks in a test (star.h), to one of which something may happen.
 */
#ifndef MR_TESTS_SUPPORT_PLAY_H
#define MR_TESTS_SUPPORT_PLAY_H

#include "engine/predict.h"

/* What goes wrong on a rank. */
typedef enum mr_mishap {
    MR_RANK_FINE,
    MR_RANK_NO_MEMORY,   /* the n-th allocation of its prediction fails */
    MR_RANK_DIES,        /* at its n-th message */
    MR_RANK_LEAVES,      /* rank 0 is gone at its n-th message */
    MR_RANK_TALKS,       /* its n-th message makes no sense */
    MR_RANK_OTHER_TRACE, /* it reads another trace */
    MR_RANK_OTHER_CONFIG,
    MR_RANK_IS_POOR,  /* its searches have no memory left */
    MR_RANK_NO_TRACE, /* it cannot read the trace */
    MR_RANK_HALTS,    /* rank 0 is asked to end after n units */
    MR_RANK_ENDS,     /* it is asked to end at its n-th message */
} mr_mishap;

typedef struct mr_play {
    const mr_trace *trace, *other;
    mr_config *config;
    mr_mishap mishap;
    unsigned rank; /* to which it happens */
    uint64_t n;
    const char *file; /* checkpoint; NULL: none */
    uint32_t shard, shards;
    /* Ranks other than 0 read a part of this file, when they can; NULL: they have the trace. */
    const char *mrt;
    bool lies; /* it is another trace, and says that it is this one */
    /* of rank 0 */
    unsigned parts; /* ranks that have a part */
    mr_halt halt;
    mr_status status;
    mr_error error;
    mr_result result;
} mr_play;

/* Settings of which no bound on time ends a question; owned by the caller. */
mr_config *mr_play_config(const char *const *settings);
/* Plays it with `size` ranks. How many of the others had no orderly end. */
unsigned mr_play_perform(mr_play *play, unsigned size);
/* The report as JSON; owned by the caller. */
char *mr_play_report(const mr_play *play);
/* Frees what it has found, so that it can be played again. */
void mr_play_forget(mr_play *play);

/* Writes an .mrt file of short blocks, so that parts of it leave out something. */
void mr_play_write(const mr_trace *trace, const char *path);

#endif
