/*
 * replay_gdb: the recorded program in a debugger, stopped at the goal; and as a shell script that
 * replays without the trace.
 */
#ifndef MR_CLI_REPLAY_GDB_H
#define MR_CLI_REPLAY_GDB_H

#include "replaying.h"

/*
 * Runs the program by the witness up to its goal, and then gdb, attached to it, with both threads
 * named. gdb reads its commands from our standard input: batch when that is no terminal. When gdb
 * ends, so does the program. MR_ERR_IO: there is no gdb; MR_ERR_TRACE: the goal was not reached.
 */
mr_status mr_replay_gdb(mr_replaying *self, const mr_witness *witness, uint32_t stop_at,
                        mr_error *error);

/* Writes the script, PATH.schedule, and, when the trace has inputs, PATH.inputs. `number` is that of the
 * race, for people. */
mr_status mr_replay_script(const mr_replaying *self, const mr_witness *witness, uint32_t stop_at,
                           size_t number, const char *path, mr_error *error);

#endif
