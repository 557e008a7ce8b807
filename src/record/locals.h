/*
 * locals: texts for people for the variables and locks on the stacks of a recorded program.
 *
 * The trace names such a variable by its address on the stack, "T1.stack-88", because different
 * functions have their frames there one after the other. The text for people is the variable of the
 * source that lies there: "worker.table[3]".
 *
 * - The uses of an address fall into periods. A period is a row of uses within one call, under one
 *   name. Only periods in which another thread than the owner of the stack uses the address count.
 *   When there is no such period, all periods count. So variables that only their own thread used
 *   do not disturb the text.
 * - When the periods that count have different names, the text joins them: "load.to/save.from", at
 *   most MR_LOCAL_NAMES.
 * - There is no text when a period that counts lies in no known frame, or when its variable is not
 *   certain: the compiler put the value there, the code was not recorded, or there is no debug
 *   information.
 * - When several stacks have the same text, the thread stands before it: "T1.worker.table[3]". When
 *   one stack has the text twice (recursion), or something else has it, "#2", "#3", … follow.
 * - A variable with a text gets a type when the variables of the source have one and the same.
 *
 * A use takes expected O(log depth of the stack). Memory: 100 bytes for each variable on a stack.
 */
#ifndef MR_RECORD_LOCALS_H
#define MR_RECORD_LOCALS_H

#include "contexts.h"
#include "lifetimes.h"

enum { MR_LOCAL_NAMES = 3 };

/* The names of an address, by number, in no order. */
typedef struct mr_local_names {
    uint32_t names[MR_LOCAL_NAMES], count;
    bool unknown; /* a name is not known, or there are more names */
} mr_local_names;

/* One variable or lock of the trace. */
typedef struct mr_local {
    uint64_t call;       /* of the current period: number of the call; 0: in no known frame */
    uint32_t name;       /* of the current period: number of the name, plus 1; 0: none */
    bool is_used;        /* there is a current period */
    bool is_shared;      /* another thread has used the address in the current period */
    uint64_t at;         /* the code address of the function at the last use */
    uint32_t owner;      /* the thread whose stack it is */
    uint32_t name_bytes; /* length of the part of the trace's name that says the address; 0: on no
                            stack */
    mr_local_names shared, all; /* names of the earlier periods: of the shared ones, and of all */
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
    mr_pairs frames;       /* (code and age, frame pointer - stack pointer) → kind of frame - 1 */
    uint64_t *frame_bytes; /* by kind of frame - 1: size (see mr_call); 0: not known */
    size_t frame_capacity;
    mr_pairs places;     /* (kind of frame and offset, bytes) → place */
    mr_pairs asked;      /* (place, at) → number in answer_of */
    uint32_t *answer_of; /* number of the name, plus 1; 0: there is none */
    size_t asked_capacity;
    uint64_t age; /* number of calls of mr_locals_forget so far */
    mr_names names;
    const char **types; /* by name: of the symbols; NULL: not known, or one name has several */
    size_t type_capacity;
} mr_locals;

/* A use of memory. */
typedef struct mr_local_use {
    const mr_life *life;
    uint64_t address, bytes;
    uint32_t thread; /* of the log */
} mr_local_use;

/* Zero-initialise, set symbols, contexts and trace, then call mr_names_init(&names). */
void mr_locals_free(mr_locals *locals);

/* Notes a use of the variable or lock with this number. Memory outside of stacks is ignored. False:
 * no memory. */
bool mr_locals_note_variable(mr_locals *locals, uint32_t variable, const mr_local_use *use);
bool mr_locals_note_lock(mr_locals *locals, uint32_t lock, const mr_local_use *use);

/* Is the use by the owner of the stack, of memory that no other thread has used in the current call? A
 * variable without a number so far is given as MR_LOCAL_NEW. False: no memory. */
enum { MR_LOCAL_NEW = UINT32_MAX };
bool mr_locals_is_own(mr_locals *locals, uint32_t variable, const mr_local_use *use, bool *is_own);

/* Sets the texts, after the last use. False: no memory. */
bool mr_locals_finish(mr_locals *locals);

/* Forgets all answers about code addresses, because another module may be mapped there now. */
void mr_locals_forget(mr_locals *locals);

#endif
