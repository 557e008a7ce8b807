/*
 * interrupt: the first SIGINT or SIGTERM asks the run to stop, and the second one ends the program.
 * The same signal again within two seconds after the first was handled counts once: timeout(1)
 * sends it to the program and then to the group of the program.
 * Signals that were ignored when the program started stay ignored.
 *
 *   mr_interrupt_start → (the run) → mr_interrupt_end
 */
#ifndef MR_CLI_INTERRUPT_H
#define MR_CLI_INTERRUPT_H

#include "base/halt.h"

/* At most one run at a time. `halt` must live until mr_interrupt_end. */
void mr_interrupt_start(mr_halt *halt);
void mr_interrupt_end(void);

#endif
