/*
 * naming: names of the variables, locks and threads of a recorded program.
 *
 *   static memory      counter   table[3].len   bank::balance   f.count (static in function f)
 *   heap, mmap         bank.c:12:20#3+8: the third block from that place, 8 bytes into it
 *   stack of a thread  T1.stack-88: so many bytes below its top; for people see locals.h
 *   else               bank+0x4040 (offset in a file), 0x7f… (an address)
 *
 * Locks are named like the memory that they are. Of a semaphore that stands for a wake-up of a
 * condition variable or a use of a barrier (docs/trace-format.md) role and number follow:
 * "ready.wake.2", "gate.3.in"; what stands for an order is "x.order", "channel.3" (a pipe),
 * "signal.10". A name that is taken gets "#2", "#3", … behind it. Characters that the text format
 * gives a meaning are replaced: ( ) by { }, others by _.
 */
#ifndef MR_RECORD_NAMING_H
#define MR_RECORD_NAMING_H

#include "lifetimes.h"
#include "objects.h"
#include "symbols/symbols.h"
#include "trace/trace.h"

typedef struct mr_naming {
    mr_symbols *symbols; /* borrowed */
    mr_trace *trace;     /* borrowed; names are added to it */
} mr_naming;

/* Each adds a name to the trace and gives its number. False: no memory. */
bool mr_naming_variable(mr_naming *naming, const mr_life *life, uint64_t address, uint64_t bytes,
                        uint32_t *variable);
bool mr_naming_lock(mr_naming *naming, const mr_life *life, const mr_object *object,
                    uint32_t *lock);
/* The lock that keeps atomic accesses of several pieces in one; it is named like the first. */
bool mr_naming_atomic(mr_naming *naming, const mr_life *life, uint64_t address, uint32_t *lock);
/* The variable that stands for an order: annotated, of a descriptor, or of a signal. */
bool mr_naming_order(mr_naming *naming, const mr_life *life, const mr_object *object,
                     uint32_t *variable);

/* How many bytes of the name of something on a stack say where that is: of "T1.stack-88.wake.2"
 * those before ".wake". */
uint32_t mr_naming_stack_bytes(const mr_life *life, uint64_t address);
/* How many bytes a lock or semaphore of the role has, so that it is named and not its first part.
 */
uint64_t mr_naming_object_bytes(uint8_t role);

/* "T0", … */
bool mr_naming_thread(mr_naming *naming, uint32_t thread, uint32_t *number);
/* The name of a thread for people, from the function that it starts with; nothing when that is not
 * known, or the thread has a name. `address` 0: main. */
bool mr_naming_thread_start(mr_naming *naming, uint32_t number, uint64_t address);

#endif
