/*
 * event_state: the state of the event pass (event_pass.h), with the threads, places and locks that
 * all kinds of events need. access.c and unrecorded_calls.c make their events from it.
 *
 *   mr_event_pass_init → mr_event_pass_run (event_pass.h) → mr_event_pass_free
 *
 * Each function that returns a status: MR_ERR_MEMORY, MR_ERR_IO, MR_ERR_TRACE.
 */
#ifndef MR_RECORD_EVENT_STATE_H
#define MR_RECORD_EVENT_STATE_H

#include "addresses.h"
#include "contexts.h"
#include "convert.h"
#include "emitter.h"
#include "locals.h"
#include "naming.h"
#include "pointers.h"
#include "positions.h"
#include "repeats.h"
#include "scan.h"
#include "settled.h"
#include "sparse.h"
#include "thread_notes.h"
#include "waiting.h"

/* A place that was found: that of records of one kind, at one code, in one row of calls. Loops ask for the
 * same ones again. */
typedef struct mr_known_place {
    uint64_t code;
    uint32_t caller;
    uint32_t what; /* kind, and whether the event is all of the record; 0: nothing is known here */
    uint32_t stack, location, number; /* `number`: of the code (positions.h) */
} mr_known_place;

enum { MR_KNOWN_PLACES = 1 << 12 };

typedef struct mr_event_pass {
    const mr_log *log;
    mr_scan *scan; /* borrowed; its pieces are used */
    mr_log_pass reader;
    mr_emitter emitter;
    mr_symbols *symbols;
    mr_contexts contexts;
    mr_naming naming;
    mr_position_count positions;
    mr_known_place known_places[MR_KNOWN_PLACES]; /* by hash; a cache of contexts and positions */
    mr_locals locals;
    mr_objects objects;
    mr_uses uses;
    mr_sparse sparse;
    mr_settled settled;
    uint64_t quiet_events; /* of the record: reads, derefs, acquires (settled.h) */
    mr_repeats repeats;
    mr_repeat read;         /* what the record reads; no piece: not one whole variable */
    uint64_t events_before; /* the events before those of the record */
    bool in_stretch; /* the events of the record do not end the thread's stretch (sparse.h) */
    mr_addresses addresses;
    mr_pairs blocks; /* (life, death or MR_DEATH_NONE) → number in block_objects */
    uint32_t *block_objects;
    size_t block_capacity, block_count;
    uint32_t *alive_of; /* by object: its variable `alive` (ignored.h), plus 1 */
    size_t alive_capacity, alive_count;
    uint32_t next_death;
    uint64_t last_stack;    /* address of the stack that was given last */
    uint64_t object_values; /* given to variables of locks and their like */
    uint32_t *lock_of;   /* by object: its lock, or the variable of an order, plus 1; 0: none yet */
    uint32_t *thread_of; /* by thread of the log: thread of the trace, plus 1; 0: none yet */
    size_t thread_capacity, thread_count;
    uint32_t *given_at; /* by location: how many blocks were given there */
    size_t given_capacity, given_count;
    mr_pairs contents; /* digest of a long value → the number that stands for it */
    mr_pairs atomics;  /* (life, address / 8) → number in atomic_locks */
    uint32_t *atomic_locks;
    size_t atomic_capacity;
    mr_pairs calls; /* (thread, number of the call) → number in call_names */
    uint32_t *call_names;
    size_t call_capacity;
    char call_name[128]; /* of the next call */
    char *reach;         /* the reach of the call that begins, as text */
    size_t reach_bytes, reach_capacity;
    uint32_t reach_left; /* records of its reach that are still to come */
    uint32_t call;       /* its number in call_names */
    uint64_t part_end;   /* of the part of the log (pieces.h) that is read */
    bool skips_part;     /* it accesses no kept piece */
    mr_jumper jumper;
    uint64_t kept_accesses; /* that have an event */
    uint64_t extra_units;   /* events of posts and waits, beyond one a record */
    uint32_t strange;       /* variable of the first strange read */
    mr_pointers pointers;
    mr_waiting waiting; /* who waits for what, for a recording that ended in a deadlock */
    const char *run;    /* lines, on loan; NULL: none */
    const char *inputs; /* file of inputs, on loan; NULL: none */
    uint64_t inputs_bytes;
    mr_thread_notes notes;
    mr_record_summary summary;
} mr_event_pass;

/* The events are written to `file`; `symbol_folder` as in mr_record_options. The caller calls
 * mr_event_pass_free in every case. */
mr_status mr_event_pass_init(mr_event_pass *pass, const mr_log *log, mr_scan *scan, FILE *file,
                             const char *name, const char *symbol_folder, mr_error *error);
void mr_event_pass_free(mr_event_pass *pass);

/* Fills the error and returns MR_ERR_MEMORY. */
mr_status mr_event_pass_no_memory(mr_error *error);

/* Keeps the misuse for the report. False: no memory. */
bool mr_event_pass_keep_misuse(mr_event_pass *pass, const mr_misuse *misuse);

/* Grows the array to `need` elements; new ones are 0. False: no memory. */
bool mr_event_pass_fill(uint32_t **array, size_t *capacity, size_t *count, size_t need);

/* The thread of the trace that a thread of the log is. */
mr_status mr_event_pass_thread(mr_event_pass *pass, uint32_t thread, uint32_t *number,
                               mr_error *error);

/* Forgets what was found of code addresses: another module may be mapped there now. */
void mr_event_pass_forget_code(mr_event_pass *pass);

/* Sets thread, stack and location of the event, from the record. */
mr_status mr_event_pass_place(mr_event_pass *pass, const uint64_t *record, mr_emitted *event,
                              mr_error *error);

/* The lock of the trace that stands for an object of the log, by the number of the object. */
mr_status mr_event_pass_lock(mr_event_pass *pass, uint32_t object, uint32_t *lock, mr_error *error);

/* Sets what names the lock, semaphore or order, and the place. The object is one of pass->objects, or that of a number; NULL:
 * there was no memory. */
mr_status mr_event_pass_object(mr_event_pass *pass, const uint64_t *record, const mr_object *object,
                               mr_emitted *event, mr_error *error);
mr_status mr_event_pass_numbered(mr_event_pass *pass, const uint64_t *record, uint32_t number,
                                 mr_emitted *event, mr_error *error);

#endif
