/*
 * locals: what the variables and locks on the stacks of a recorded program are called, for people.
 *
 * In the trace they are places on a stack, "T1.stack-88": that is what they are, whichever function
 * has its frame there. Their text for people is the variable that lies there: "worker.table[3]",
 * in whatever calls of it have their frame there.
 *
 * - The uses of a place fall into periods: those in a row in one call of a function with one name.
 *   What counts are periods with a use by another thread than the stack's; when there are none, all
 *   do. So it does not matter what else has been there that was its thread's alone.
 * - Where several variables lie, one after the other, there are several names, "load.to/save.from",
 *   at most MR_LOCAL_NAMES.
 * - No text when a period that counts is in no known frame, or of no variable for certain: what the
 *   compiler put there, code that was not recorded, no debug information.
 * - When the same is on several stacks, the thread comes first: "T1.worker.table[3]"; in several
 *   places of a stack (recursion), or when something else has the name, "#2", "#3", … behind it.
 *
 * Expected O(log depth of the stack) a use; 100 bytes for each variable on a stack.
 */
#ifndef MR_RECORD_LOCALS_H
#define MR_RECORD_LOCALS_H

#include "contexts.h"
#include "lifetimes.h"

enum { MR_LOCAL_NAMES = 3 };

/* Names of a place, by number; without order. */
typedef struct mr_local_names {
    uint32_t names[MR_LOCAL_NAMES], count;
    bool unknown; /* or there are more */
} mr_local_names;

/* One variable or lock of the trace. */
typedef struct mr_local {
    uint64_t call;       /* the period: the number of the call, 0: not in a known frame; */
    uint32_t name;       /* and the number of the name, plus 1; 0: there is none */
    bool is_used;        /* there is a period */
    bool is_shared;      /* another thread has used it in the period */
    uint64_t at;         /* where the function was when it was used last */
    uint32_t owner;      /* the thread whose stack it is */
    uint32_t name_bytes; /* of its name in the trace, what says the place; 0: it is on no stack */
    mr_local_names shared, all; /* of the periods that are over: such ones, and all */
} mr_local;

typedef struct mr_local_list {
    mr_local *items; /* by number in the trace */
    size_t count, capacity;
} mr_local_list;

typedef struct mr_locals {
    mr_symbols *symbols;   /* borrowed */
    mr_contexts *contexts; /* borrowed */
    mr_trace *trace;       /* borrowed; texts of its names are set */
    mr_local_list variables, locks;
    mr_pairs frames; /* (code and age, frame pointer to stack pointer) → kind of frame - 1 */
    uint64_t *frame_bytes; /* by that, see mr_call; 0: not known */
    size_t frame_capacity;
    mr_pairs places;     /* (kind of frame and offset, bytes) → place */
    mr_pairs asked;      /* (place, at) → number in answer_of */
    uint32_t *answer_of; /* number of the name, plus 1; 0: there is none */
    size_t asked_capacity;
    uint64_t age; /* how often code was forgotten */
    mr_names names;
} mr_locals;

/* A use of memory. */
typedef struct mr_local_use {
    const mr_life *life;
    uint64_t address, bytes;
    uint32_t thread; /* of the log: who uses it */
} mr_local_use;

/* Zero-initialise, with symbols, contexts and trace, and then mr_names_init(&names). */
void mr_locals_free(mr_locals *locals);

/* The variable or lock of this number is used; not on a stack: nothing. False: no memory. */
bool mr_locals_note_variable(mr_locals *locals, uint32_t variable, const mr_local_use *use);
bool mr_locals_note_lock(mr_locals *locals, uint32_t lock, const mr_local_use *use);

/* Sets the texts: nothing more will be used. False: no memory. */
bool mr_locals_finish(mr_locals *locals);

/* What is known of code is over: another module may be there. */
void mr_locals_forget(mr_locals *locals);

#endif
