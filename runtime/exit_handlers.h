/*
 * exit_handlers: what is called when the process ends, and what other threads do then.
 *
 * Whoever ends the process cuts off what other threads would do. So they go on until they all wait, or for so many
 * turns: threads that nobody joins would often do nothing in a recording, which lets one thread run at a time. They do
 * so before static objects are destroyed: a thread that uses one would use it after its end, for longer than in a plain run, and the
 * recording would end in a crash. Not by priorities: a thread in a loop would not let this one end.
 *
 * A hunt looks for such crashes. So there the threads go on at the very end, and only half of the time, by the seed.
 *
 *   mr_exit_watch → mr_exit_end
 */
#ifndef MR_RUNTIME_EXIT_HANDLERS_H
#define MR_RUNTIME_EXIT_HANDLERS_H

#include "state.h"

/* From now on the end is noticed before anything is called that was asked for until now. To be called with the first thread. */
void mr_exit_watch(void);

/* Everything has been called; the process ends. */
void mr_exit_end(mr_thread *self);

#endif
