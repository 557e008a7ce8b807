/*
 * naming: names of the variables, locks and threads of a recorded program.
 *
 *   static memory      counter   table[3].len   bank::balance   f.count (static in function f)
 *   heap, mmap         bank.c:12:20#3+8: the third block from that place, 8 bytes into it
 *   stack of a thread  T1.stack-88: 88 bytes below its top; locals.h makes the text for people
 *   else               bank+0x4040 (offset in a file), 0x7f… (an address)
 *
 * The variable of a file descriptor is "descriptor.5".
 *
 * A lock has the name of the memory that it lies in. A semaphore that stands for a wake-up of a
 * condition variable or a use of a barrier (docs/trace-format.md) has its role and number behind
 * the name: "ready.wake.2", "gate.3.in". Variables that stand for an order are "x.order",
 * "channel.3" (a pipe) and "signal.10"; "x.lock" stands for a lock of the program's own that is
 * used wrongly. A name that is taken gets "#2", "#3", … behind it.
 * A variable in static memory gets its type, too (trace/value_types.h), where the debug information
 * says it.
 *
 * Characters with a meaning in the text format are replaced: ( ) by { }, others by _.
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
/* The variable of its ignored reads, and the one that says whether a part of a life goes on (ignored.h). */
bool mr_naming_shadow(mr_naming *naming, const mr_life *life, uint64_t address, uint64_t bytes,
                      uint32_t *variable);
bool mr_naming_alive(mr_naming *naming, uint32_t object, uint32_t *variable);
/* The object of a part of a life that begins at the address. */
bool mr_naming_block(mr_naming *naming, const mr_life *life, uint64_t address, uint32_t *object);
bool mr_naming_lock(mr_naming *naming, const mr_life *life, const mr_object *object,
                    uint32_t *lock);
/* The lock that keeps the events of an atomic access together. It has the name of its first piece.
 */
bool mr_naming_atomic(mr_naming *naming, const mr_life *life, uint64_t address, uint32_t *lock);
/* The variable that says whether a lock is held, or how many units a semaphore has (tries.h). */
bool mr_naming_state(mr_naming *naming, const mr_life *life, const mr_object *object, bool of_owner,
                     uint32_t *variable);
/* The variable that stands for an order: of an annotation, a file descriptor or a signal. */
bool mr_naming_order(mr_naming *naming, const mr_life *life, const mr_object *object,
                     uint32_t *variable);

/* The length of the part of a name on a stack that says the address: "T1.stack-88" of
 * "T1.stack-88.wake.2". */
uint32_t mr_naming_stack_bytes(const mr_life *life, uint64_t address);
/* The size of a lock or semaphore of this role. With it the name is that of the whole lock, not
 * that of its first member. */
uint64_t mr_naming_object_bytes(uint8_t role, uint64_t number);

/* "T0", … */
bool mr_naming_thread(mr_naming *naming, uint32_t thread, uint32_t *number);
/* Sets the text for people of a thread to its first function, unless the function is not known or
 * the thread has a text. `address` 0: main. */
bool mr_naming_thread_start(mr_naming *naming, uint32_t number, uint64_t address);

#endif
