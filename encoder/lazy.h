/*
 * lazy: the same formula, of which the clauses of locks and reads are made when an order of the
 * nodes violates them.
 *
 * The whole formula has a clause for each pair of sections of a lock, and for each choice of a read
 * with each write of its variable: squares of what is hot, and nearly all of these clauses hold in
 * any order that one would think of. A lazily built encoding (mr_encoding_options) has as nodes
 * all events that such clauses could name:
 *
 *   - acquires and releases of C of locks with sections in C by two threads, one of them exclusive;
 *   - constrained reads of C (branches.h) and the writes of C, of variables with such a read,
 *     unless one thread has all of these accesses and its own writes give every read what it saw;
 *   - what the other parts of the formula name, which are built at once.
 *
 * Also built at once is what reads by source ask of their source (linear). mr_lazy_refute looks at
 * a total order that violates no clause so far, and adds clauses of the whole formula that the
 * order does violate:
 *
 *   - of two sections that are open together, unless they are nested in two sections of another lock
 *     that the same threads have open together (below);
 *   - of a write between a read and its source;
 *   - of a read by value that sees a write which it may not see: its choices, with what these ask
 *     of their sources.
 *
 * A read by value whose choices are not made needs none in this order when the last write before it
 * has its value and is clean, or when there is no write and the carried value fits: the choice of
 * that write would satisfy all clauses of the read.
 *
 * Exact. Every clause is one of the whole formula (with stages: follows from it for some values of
 * the `more` choices), so if those made so far have no solution, the whole formula has none. An
 * order in which nothing is refuted is a reordering: the walk finds every violated lock and read,
 * and a clause that precedence folds away holds in any order that satisfies the others. Nothing is
 * made twice: an order that satisfies a clause does not violate it.
 *
 * Nested sections. Let threads t and u have the sections I_t and I_u of a lock inside their sections
 * O_t and O_u of another one: acq(O) <= acq(I) and rel(I) <= rel(O) in program order, where a section
 * that is held at the start has its acquire before all events, and one that is never left its release
 * after them. If I_t and I_u exclude each other and O_t and O_u do, too, what the outer pair says
 * implies what the inner pair says: rel(O_t) before acq(O_u) puts rel(I_t) before acq(I_u), and an
 * inner acquire that is included has the outer one included. And an order in which I_t and I_u are
 * open together has O_t and O_u open together. So the clause of the outer pair, which the same walk
 * makes, will do: it is one clause instead of one a level of the nests. The inner pair has its clause
 * all the same when the walk has made none so far. So a walk that adds nothing has found no overlap.
 *
 * Stages. With `stage` K a read is first offered its K most promising sources s_1 … s_K: the one
 * that it saw, the carried value, then writes by their distance in the trace. The choice `more`
 * stands for the sources that are not offered yet. Each extension offers twice as many sources as
 * the one before, with a `more` of its own, until no source is left:
 *
 *     guard(r)  or  c(s_1)  or … or  c(s_K)  or  more
 *     not more  or  c(s_{K+1})  or … or  c(s_{3K})  or  more'
 *
 * A solver that assumes `more` to be false and finds no solution because of that calls
 * mr_lazy_extend. A solver that leaves `more` open may make it true; mr_lazy_refute then extends.
 *
 * Regions. With `end` the formula is about the events [first, end) of the window, the region. Each of
 * its clauses follows from the whole formula, so it has no solution only where that has none. About
 * locks it has the clauses of two sections that are both entered in the region; about reads those of a
 * read and a write that are both there. A read by value may see something outside the region: one
 * choice stands for all such sources, and keeps away a write only when the write is certainly after
 * each of them. A read with no write before it in the order may see anything. So an order in which
 * nothing is refuted says nothing. Of forks, joins and BarrierPairs it has the edges that begin (a fork) or
 * end there; FORCED knows the others, too.
 *
 * Costs: preparing O(events of C + sections and names of the window), with a region O(its events + names and
 * semaphores of the window), and besides a pointer for each page of events; a look at an order O(nodes of the
 * locks and variables that are looked at) and what it adds.
 */
#ifndef MR_ENCODER_LAZY_H
#define MR_ENCODER_LAZY_H

#include "encoding.h"

/* Stands for all sources outside the region. */
#define MR_LAZY_OUTSIDE (UINT32_MAX - 1)

/* A read by value that has choices. */
typedef struct mr_lazy_read {
    uint32_t read;    /* window event */
    uint32_t more;    /* choice: a source not offered yet; MR_NONE: all are */
    uint32_t offered; /* how many sources are */
    uint32_t stage;   /* how many the next extension offers; 0: all that are left */
    uint32_t newest;  /* in `offers`, MR_NONE: none */
    bool held;        /* `more`, when a look last asked */
} mr_lazy_read;

/* A choice: the read sees this write. */
typedef struct mr_lazy_offer {
    uint32_t choice, source; /* MR_NONE: the carried value; MR_LAZY_OUTSIDE: outside the region */
    uint32_t next;           /* an earlier offer for the same read, MR_NONE: none */
    bool held;               /* when a look last asked */
} mr_lazy_offer;

/* What a node does to its object, the lock or variable that it is about. */
typedef struct mr_lazy_node {
    uint32_t object; /* MR_NONE: there is none */
    /* A read: the value that it has to see; by source, the node of what it saw, MR_NONE: none. */
    uint32_t sees;
    uint32_t puts;              /* the value that a write writes */
    bool reads, writes, enters; /* none of them: it leaves a section */
} mr_lazy_node;

struct mr_lazy {
    uint32_t stage;      /* 0: all at once */
    mr_lazy_read *reads; /* owned; in the order in which their choices were made */
    size_t read_count, read_capacity;
    mr_lazy_offer *offers; /* owned */
    size_t offer_count, offer_capacity;
    uint64_t effort; /* nodes, writes and sources looked at */

    /* What looks at orders need. Arena memory. Objects: the locks, then the variables. */
    mr_lazy_node *nodes; /* one a node */
    uint32_t *read_of;   /* one a node: index in `reads` + 1, 0: no choices */
    uint8_t *watched;    /* one a variable: its reads are looked at */
    /* One an object, and two more: the nodes of object i are
     * object_nodes[object_first[i] … object_first[i + 1]), in trace order. */
    uint32_t *object_first, *object_nodes;
    uint8_t *touched; /* one an object: is it in `to_look_at`? */
    /* Objects that have changed since the order violated nothing about them. */
    uint32_t *to_look_at;
    uint32_t to_look_at_count;
    /* One a section: the innermost one that its thread was in when it entered it, MR_NONE: none. */
    uint32_t *outer;
    uint32_t *innermost; /* scratch: one a thread */
    uint32_t *around;    /* scratch: one a lock */
    uint32_t *line;      /* two a node: nodes of an object before CUT in the order; scratch */
    uint32_t *holders;   /* one a lock: a section that is open, MR_NONE: none */
    uint32_t *co_holder; /* one a section: another one */
    uint32_t *latest;    /* one a variable: its latest write in the order, MR_NONE: none */
    uint32_t *earlier;   /* one a node: the write of the variable before it */
    uint32_t *unlike;    /* one a node: the latest of those that gave something else */
    uint32_t *gives;     /* one a node: the value that the write gives to others, MR_NONE: none */
    uint32_t *tried;     /* one a thread: clauses about it for the read at hand */
};

/* Makes the nodes; part of mr_encoding_build. False: no memory. */
bool mr_lazy_prepare(mr_encoding *encoding, uint32_t stage);
void mr_lazy_free(mr_lazy *lazy); /* what is not the arena's; NULL: nothing */

/*
 * Looks at a total order of the nodes (one position a node; nodes of equal position stand in trace
 * order) and adds clauses that do not hold in it. `choices`, one a choice: 1 true, anything else
 * false; they and the order satisfy the formula so far. `*added`: how many; 0: the order is a
 * solution of the whole formula. False: no memory; as ever, look at the formula's flags as well.
 */
bool mr_lazy_refute(mr_encoding *encoding, const int64_t *order, const uint8_t *choices,
                    uint32_t *added);

/*
 * The same, of what may have changed since a look found nothing about it: `mr_lazy_touch` tells of each
 * node that has moved, or has come to the other side of CUT. O(nodes of the locks and variables of these nodes
 * + choices); the first look is at everything.
 */
bool mr_lazy_refute_moved(mr_encoding *encoding, const int64_t *order, const uint8_t *choices,
                          uint32_t *added);
void mr_lazy_touch(const mr_encoding *encoding, uint32_t node);

/* The first choices of a read. False: no memory. */
bool mr_lazy_choose(mr_encoding *encoding, uint32_t read);

/* Is the write after each source outside the region that the read may see? */
bool mr_lazy_is_after_outside(const mr_encoding *encoding, uint32_t read, uint32_t write);

/* Offers the next sources to a read with choices that has more (an index in lazy->reads). False: no
 * memory. */
bool mr_lazy_extend(mr_encoding *encoding, uint32_t read);

#endif
