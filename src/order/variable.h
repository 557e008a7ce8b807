/*
 * variable: what the streaming orders keep of each variable, 64 bytes, one cache line.
 *
 * While one thread alone accesses the variable, at up to three pairs of location and kind, its
 * latest access of each pair is kept. After that, the maximal writes and reads are kept (epochs.h),
 * and the accesses for static races (history.h). A variable that is accessed atomically counts as
 * accessed by several threads from then on; its atomic accesses are kept with the history. One whose
 * object was freed is kept like that, too, once several threads access it.
 *
 *   table: mr_variables_grow → mr_variables_get … → mr_variables_free
 *   access: mr_variable_again, else mr_variable_access
 */
#ifndef MR_ORDER_VARIABLE_H
#define MR_ORDER_VARIABLE_H

#include "history.h"

typedef struct mr_hybrid_history mr_hybrid_history;

enum { MR_VARIABLE_ENTRIES = 3, MR_VARIABLE_SHARED = -1 };

/* What an entry is. */
enum { MR_ENTRY_READ = MR_OP_READ, MR_ENTRY_WRITE = MR_OP_WRITE, MR_ENTRY_FREE = 2 };
_Static_assert(MR_OP_READ < 2 && MR_OP_WRITE < 2, "a plain operation is the kind of its entry");

typedef struct mr_variable_entry {
    uint32_t location, local, event_low; /* the low 32 bits */
} mr_variable_entry;

typedef struct mr_variable {
    uint32_t owner; /* 0: none; its thread + 1; or MR_VARIABLE_SHARED */
    uint8_t entry_count;
    bool is_atomic;            /* has been accessed atomically or freed, and is shared */
    uint16_t kinds;            /* of one thread: bits 2 i, 2 i + 1: what entry i is */
    union {                    /* the order's own: */
        mr_clock *write_clock; /*   shb, fhb, c17: clock of the last write, one reference */
        uint32_t touch;        /*   wcp: number of a touch + 1, 0: none */
    };
    union {
        mr_clock *read_clock; /* fhb: joined clocks of the reads since; c17: clock of the last write
                                 in its own order; one reference */
        uint64_t noted;       /* wcp: what rule (a) was asked last (wcp.h) */
    };
    union {
        struct {
            mr_variable_entry entries[MR_VARIABLE_ENTRIES];
            uint8_t event_highs[MR_VARIABLE_ENTRIES]; /* bits 32 to 39 of their events */
        };
        struct {
            mr_front writes, reads;
            mr_history *history;
        };
        mr_hybrid_history *past; /* hybrid: all that it keeps of the variable, with owner 0 */
    };
} mr_variable;

_Static_assert(sizeof(mr_variable) <= 64, "a variable is a cache line");

/* Variables by number, or, when an outlook tells which ones can race, by the order in which these
 * come. Zero-initialise. */
typedef struct mr_variables {
    mr_variable **chunks; /* each begins with a cache line */
    void **blocks;        /* what they were allocated as */
    size_t chunk_count, chunk_capacity, block_capacity;
    uint32_t *places; /* by variable: its number + 1, 0: none yet; NULL: its number is its own */
    uint32_t place_count;
    mr_slab slab; /* fronts and histories */
} mr_variables;

enum { MR_VARIABLES_CHUNK = 512 };

/* Makes places for the variables that come, of `variable_count` in all. False: no memory. */
bool mr_variables_sparse(mr_variables *variables, uint32_t variable_count);
/* Makes room for `count` of them. False: no memory. */
bool mr_variables_grow(mr_variables *variables, uint32_t count);
/* Write and read clocks must have been dropped before. */
void mr_variables_free(mr_variables *variables);

static inline mr_variable *mr_variables_get(const mr_variables *variables, uint32_t number)
{
    return &variables->chunks[number / MR_VARIABLES_CHUNK][number % MR_VARIABLES_CHUNK];
}

/* The variable's new place. False: no memory. */
bool mr_variables_add(mr_variables *variables, uint32_t variable);

/* Of a sparse table. NULL: no memory. */
static inline mr_variable *mr_variables_find(mr_variables *variables, uint32_t variable)
{
    if (!variables->places[variable] && !mr_variables_add(variables, variable))
        return NULL;
    return mr_variables_get(variables, variables->places[variable] - 1);
}

static inline bool mr_variable_is_shared(const mr_variable *variable)
{
    return variable->owner == (uint32_t)MR_VARIABLE_SHARED;
}

/* Notes a plain access that the only thread so far has made before, at the same location; false: it
 * is none. It races with nothing. */
static inline bool mr_variable_again(mr_variable *variable, const mr_access *access, uint32_t local)
{
    if (variable->owner != access->thread + 1)
        return false;
    for (unsigned i = 0; i < variable->entry_count; i++) {
        mr_variable_entry *entry = &variable->entries[i];
        if (entry->location == access->location && (variable->kinds >> 2 * i & 3) == access->op) {
            entry->local = local;
            entry->event_low = (uint32_t)access->event;
            variable->event_highs[i] = (uint8_t)(access->event >> MR_EVENT_HIGH_SHIFT);
            return true;
        }
    }
    return false;
}

/* Notes any other access, an atomic one, too, at `local`, by a thread that has `knowledge`, and
 * reports its races. False: no memory. */
bool mr_variable_access(mr_variables *variables, mr_variable *variable, const mr_access *access,
                        mr_knowledge knowledge, uint32_t local, mr_race_list *list);

/* The same for a free of the variable's object, a write that no read sees. `ends`: who knows of it
 * races with nothing before it (rule 7 of docs/semantics.md 2). */
bool mr_variable_free(mr_variables *variables, mr_variable *variable, const mr_access *access,
                      mr_knowledge knowledge, uint32_t local, bool ends, mr_race_list *list);

#endif
