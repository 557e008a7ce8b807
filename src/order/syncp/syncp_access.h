/*
 * syncp_access: the accesses of contended variables so far, in the form in which the search for
 * sync-preserving races asks for them.
 *
 * Class: the accesses of one thread to one variable, of one kind, at one location, in one step
 * (syncp_ideal.h). What comes before them in other threads is the same for all of them, so as first
 * accesses of a pair they race with the same events, and as second accesses with the same classes.
 * The latest stands for the class. A class has no events both before and after a free of the
 * variable's object: rule 7 (syncp.h) is another one for these.
 *
 * Accessor: a thread that accesses a variable; it owns its classes, in the order of their steps.
 *
 * Site: a kind and a location of accesses to a variable.
 *
 * Group: the first classes of one site that an accessor, as the second thread, still has to consider. First accesses that the
 * closure of a pair contains are *dead* for this second thread for good, as what a thread needs only grows: they leave the group.
 *
 * What is kept of two threads that access one variable is the place of each live class in a group of the other, and what the search
 * found dead. So many threads under one lock keep nothing of each other.
 */
#ifndef MR_ORDER_SYNCP_ACCESS_H
#define MR_ORDER_SYNCP_ACCESS_H

#include "syncp_ideal.h"

/* An atomic update is an atomic write here, a free of the variable's object a write. */
enum { MR_SYNCP_READ, MR_SYNCP_WRITE, MR_SYNCP_ATOMIC_READ, MR_SYNCP_ATOMIC_WRITE, MR_SYNCP_KINDS };

static inline int mr_syncp_kind_of(uint8_t op)
{
    if (mr_op_is_atomic(op))
        return mr_op_writes(op) ? MR_SYNCP_ATOMIC_WRITE : MR_SYNCP_ATOMIC_READ;
    return mr_op_writes(op) || mr_op_ends_life(op) ? MR_SYNCP_WRITE : MR_SYNCP_READ;
}

/* Two accesses do not when both read or both are atomic. */
static inline bool mr_syncp_kinds_conflict(int kind, int other)
{
    bool both_read = (kind == MR_SYNCP_READ || kind == MR_SYNCP_ATOMIC_READ) &&
                     (other == MR_SYNCP_READ || other == MR_SYNCP_ATOMIC_READ);
    return !both_read && (kind < MR_SYNCP_ATOMIC_READ || other < MR_SYNCP_ATOMIC_READ);
}

typedef struct mr_syncp_class {
    uint32_t event; /* the latest of the class */
    uint32_t step, site;
    uint32_t row, open; /* what comes before it; the sections open at it */
    uint32_t accessor;
    uint32_t previous; /* of the same accessor and kind, MR_NONE: none */
    uint32_t older;    /* of the same variable and kind, MR_NONE: none */
    /* as second accesses: the verdict, and the number of first classes that it has seen */
    uint32_t seen;
    bool racy;
} mr_syncp_class;

typedef struct mr_syncp_site {
    uint32_t location;
    int kind;
    uint32_t number; /* among the sites of the variable: 0, 1, … */
    uint32_t older;  /* the site of the variable that came before, MR_NONE: first */
    /* as second site of a pair: the first sites of which an example is wanted, and the newest site
     * of the variable that was considered for it */
    mr_u32s open;
    uint32_t open_until;
} mr_syncp_site;

typedef struct mr_syncp_group {
    uint32_t *classes; /* in the order in which they were made */
    uint32_t count, capacity;
} mr_syncp_group;

/* Classes of one first thread in these steps are dead. */
typedef struct mr_syncp_dead {
    uint32_t from, to;
} mr_syncp_dead;

typedef struct mr_syncp_accessor {
    uint32_t thread;
    uint32_t next;                 /* of the variable, MR_NONE: last */
    uint32_t last[MR_SYNCP_KINDS]; /* classes, MR_NONE: none */
    uint32_t class_count[MR_SYNCP_KINDS];
    /* as second thread */
    mr_syncp_group *groups; /* by number of the site */
    size_t group_count, group_capacity;
    uint32_t until
        [MR_SYNCP_KINDS]; /* the newest class of the variable that was put into a group or was dead */
    uint32_t live[MR_SYNCP_KINDS];  /* classes in groups, by kind of the first access */
    uint32_t seen[MR_SYNCP_KINDS];  /* by kind of the second: classes that were there … */
    uint32_t guess[MR_SYNCP_KINDS]; /* … and the first class that raced, MR_NONE: none */
} mr_syncp_accessor;

typedef struct mr_syncp_variable {
    uint32_t first_accessor, recent; /* MR_NONE: none */
    uint32_t accessor_count;
    uint32_t newest_site, site_count; /* MR_NONE: none */
    uint32_t recent_site[MR_SYNCP_KINDS];
    uint32_t newest[MR_SYNCP_KINDS]; /* class, MR_NONE: none */
    uint32_t class_count[MR_SYNCP_KINDS];
    uint32_t freed;      /* the free of its object, MR_NONE: none so far; … */
    uint32_t freed_step; /* … and its step */
} mr_syncp_variable;

typedef struct mr_syncp_accesses {
    mr_syncp_variable *variables;
    mr_syncp_accessor *accessors;
    size_t accessor_count, accessor_capacity;
    mr_syncp_class *classes;
    size_t class_count, class_capacity;
    mr_syncp_dead *dead;
    size_t dead_count, dead_capacity;
    mr_map dead_numbers; /* (accessor as second thread, accessor as first one) */
    mr_syncp_site *sites;
    size_t site_count, site_capacity;
    mr_map accessor_numbers;             /* (variable, thread), of variables with many */
    mr_map site_numbers[MR_SYNCP_KINDS]; /* (variable, location), likewise */
} mr_syncp_accesses;

/* False: no memory, here and below; mr_syncp_accesses_free is fine in any state after it. */
bool mr_syncp_accesses_init(mr_syncp_accesses *accesses, uint32_t variable_count);
void mr_syncp_accesses_free(mr_syncp_accesses *accesses);

/* The accessor of the thread, made when new. MR_NONE: no memory. */
uint32_t mr_syncp_get_accessor(mr_syncp_accesses *accesses, uint32_t variable, uint32_t thread);

/* The accessor's class of this step and location with events after `since`, MR_NONE: there is none
 * yet. */
uint32_t mr_syncp_find_class(const mr_syncp_accesses *accesses, uint32_t accessor, int kind,
                             uint32_t step, uint32_t location, uint32_t since);

/* The site, made when new. MR_NONE: no memory. */
uint32_t mr_syncp_get_site(mr_syncp_accesses *accesses, uint32_t variable, int kind,
                           uint32_t location);

/* A copy of `new` as the latest class of its accessor (its links are set); MR_NONE: no memory. */
uint32_t mr_syncp_add_class(mr_syncp_accesses *accesses, uint32_t variable,
                            const mr_syncp_class *new);

/* What is dead of the accessor `first` for the accessor. NULL: nothing is known. */
mr_syncp_dead *mr_syncp_find_dead(const mr_syncp_accesses *accesses, uint32_t accessor,
                                  uint32_t first);

/* The same; made when new, with no steps (from > to). NULL: no memory. */
mr_syncp_dead *mr_syncp_get_dead(mr_syncp_accesses *accesses, uint32_t accessor, uint32_t first);

/* Puts a class of another accessor at the end of its group, and counts it as live. */
bool mr_syncp_push_live(mr_syncp_accesses *accesses, uint32_t accessor, uint32_t class);

#endif
