/*
 * interrupt: the first SIGINT or SIGTERM asks a run to come to its end, the second one ends the
 * program. Signals that were ignored when the program was started stay so.
 *
 *   mr_interrupt_start → (the run) → mr_interrupt_end
 */
#ifndef MR_CLI_INTERRUPT_H
#define MR_CLI_INTERRUPT_H

#include "base/halt.h"

/* One at a time. `halt` must last until the end. */
void mr_interrupt_start(mr_halt *halt);
void mr_interrupt_end(void);

#endif
