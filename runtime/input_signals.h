/*
 * input_signals: signals that other processes send to the program, as inputs (inputs.h). While it is
 * recorded each one is logged when its handler runs. When inputs are fed they are sent again to the
 * thread that handled them, and what other processes really send under these numbers is dropped.
 *
 * When. By a schedule (steer.h): where the handler ran among the operations of its thread. Else the
 * thread must have come past all earlier inputs, and then: before it asks for its next input, or when
 * virtual time has come to where it was, or when nobody can run.
 *
 * Signals that the program sends itself, of its timers, faults and children are not among them: they
 * happen again.
 */
#ifndef MR_RUNTIME_INPUT_SIGNALS_H
#define MR_RUNTIME_INPUT_SIGNALS_H

#include "state.h"

/* A handler is about to run for the signal. Called by the owner of the baton, inside the runtime. */
void mr_input_signal_log(const mr_thread *thread, int number, const siginfo_t *info);

/* Sends the thread its next input, when that is a signal. True: so it was. */
bool mr_input_signal_send(const mr_thread *thread);

/* Sends the thread this signal, which arrives as if it had come to it at first. */
bool mr_input_signal_give(const mr_thread *thread, int number, siginfo_t info);

/* Without a schedule: sends all signals that are due at this virtual time. Returns whether there was one. */
bool mr_input_signals_due(int64_t now);
/* The virtual time of the earliest one that can be sent; MR_NEVER: there is none. */
int64_t mr_input_signals_next(void);

/* A signal has arrived. False: it is not to be handled, because inputs are fed and this one is not of
 * them. It may have been sent by mr_input_signal_give: then `info` becomes what the program saw. */
bool mr_input_signal_counts(int number, siginfo_t *info);

#endif
