/*
 * history: the accesses to one variable so far, for exact static races.
 *
 * Of each location, operation (together a *site*) and thread the latest access only is kept:
 * it has the greatest local time, so when it is ordered before something, so are the earlier ones;
 * and it is the latest possible `first` of a pair. Noting an access is a look at a few adjacent
 * entries, or one hash table lookup where there are more. A free is an access, too.
 *
 * The accesses that race with a new one are looked for only when there are some, which the epochs
 * have told (epochs.h). To not look at the same ones over and over where the same locations race
 * again and again:
 *
 *   - an access that was there when the same thread was last at the same site is passed over: it
 *     was offered then, or is ordered now, as a thread's knowledge only grows;
 *   - what is settled (mr_race_list_settled) stays settled: with few entries, a bit for each two of
 *     them says so; with many, each site keeps the list of sites with which it is open, made when
 *     first needed, and whole sites without news are passed over at once.
 *
 * Memory: 16 bytes for each site and thread that occur together, 8 to 16 more from the 10th on; of
 * variables with races, 12 more, and where there are many sites, the lists: of the racy sites, at
 * most one number for each site.
 */
#ifndef MR_ORDER_HISTORY_H
#define MR_ORDER_HISTORY_H

#include "epochs.h"
#include "race_list.h"
#include "trace/op.h"

typedef struct mr_access {
    uint64_t event;
    uint32_t thread, variable, location;
    uint8_t op;
    uint8_t memory_order; /* mr_memory_order; c17 alone asks */
} mr_access;

/* At most 2^27 - 1 threads. */
enum { MR_ACTOR_OPS = 32 };
#define MR_FITS_ACTOR(with, name, text, kind, does)                                                \
    &&(((does) & (MR_READS | MR_WRITES | MR_ENDS_LIFE)) == 0 ||                                    \
       (int)MR_OP_##name < (int)MR_ACTOR_OPS)
_Static_assert(1 MR_OP_MAP(MR_FITS_ACTOR, unused), "an actor has room for the operation");
#undef MR_FITS_ACTOR

typedef struct mr_past_access {
    uint32_t location;
    uint32_t actor;     /* thread * MR_ACTOR_OPS + operation */
    uint32_t event_low; /* the low 32 bits */
    uint32_t local;
} mr_past_access;

/* Event numbers have 40 bits where they are kept: 32, and 8 in another place. */
enum { MR_EVENT_HIGH_SHIFT = 32 };
#define MR_EVENTS_MOST (UINT64_C(1) << 40)

static inline uint64_t mr_event_of(uint32_t low, uint8_t high)
{
    return (uint64_t)high << MR_EVENT_HIGH_SHIFT | low;
}

static inline uint32_t mr_past_thread(const mr_past_access *access)
{
    return access->actor / MR_ACTOR_OPS;
}

static inline uint8_t mr_past_op(const mr_past_access *access)
{
    return access->actor % MR_ACTOR_OPS;
}

/* What is kept of a variable that was accessed atomically: as mr_variable, of the atomic accesses.
 */
typedef struct mr_atomics {
    mr_front writes, reads; /* atomic updates are writes */
    mr_epoch last_write;    /* shb, c17: of any kind */
    bool last_is_plain;     /* c17: is it that of a plain write? */
    mr_clock *write_clock;  /* fhb: joined clocks and epochs of the atomic writes since the last
                               plain one, one reference */
    mr_clock *read_clock;   /* fhb: of the atomic reads since */
} mr_atomics;

typedef struct mr_site_table mr_site_table;

enum { MR_HISTORY_RECENT = 16 };

/* What each access needs stands last, beside the first entries. The history, `settled`, `atomics` and `highs` are from a slab. */
typedef struct mr_history {
    mr_table table;      /* of the entries, where there are several */
    uint32_t *settled;   /* few, with races: by entry, bit j: nothing wanted with j */
    mr_atomics *atomics; /* NULL: there are none */
    /* shb: the free of the variable's object: who knows it races with nothing before it (rule 7).
     * local 0: none so far. */
    mr_epoch ended;
    uint64_t ended_by; /* that event */
    uint32_t capacity;
    uint32_t count;
    mr_site_table *sites; /* many, with races */
    uint8_t *highs; /* by entry, `capacity` of them: bits 32 to 39 of its event; NULL: all are 0 */
    uint8_t recent[MR_HISTORY_RECENT]; /* entries used last, by bits of what they are of */
    mr_past_access items[];
} mr_history;

/* Frees what is not from the slab. NULL is fine. */
void mr_history_free(mr_history *history);

/* The entry of the access's thread, location and operation, as an index in `items`; a new one has
 * event 0 and local time 0, which is always known. `*history` may move; NULL at first. `slab`: of the
 * history. False: no memory.
 */
bool mr_history_find(mr_history **history, const mr_access *access, uint32_t *entry, mr_slab *slab);

/* Sets event and local time of the entry. */
void mr_history_note(mr_history *history, uint32_t entry, uint64_t event, uint32_t local);

/* The event of the entry. */
static inline uint64_t mr_history_event(const mr_history *history, uint32_t entry)
{
    return mr_event_of(history->items[entry].event_low, history->highs ? history->highs[entry] : 0);
}

/* Offers `list` the pairs of the access, whose entry is `entry` (not yet noted), with the accesses
 * that are not known. False: no memory. */
bool mr_history_search(mr_history *history, uint32_t entry, const mr_access *access,
                       mr_knowledge knowledge, mr_race_list *list, mr_slab *slab);

/* The access races with no event before this one, as far as the entry and `ended` tell. */
static inline uint64_t mr_history_news(const mr_history *history, uint32_t entry, uint32_t thread,
                                       mr_knowledge knowledge)
{
    uint64_t news = mr_history_event(history, entry);
    bool is_over = history->ended.local && !mr_epoch_unordered(history->ended, thread, knowledge);
    return is_over && history->ended_by > news ? history->ended_by : news;
}

#endif
