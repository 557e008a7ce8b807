/*
 * inputs: what the program gets from outside is logged while it is recorded, and given to it again
 * when it runs again.
 *
 *   mr_inputs_start → (mr_input_find → the real call, or not → mr_input_log)*
 *
 * A function that gives the program something from outside asks mr_input_find first. While
 * recording there is nothing to find: the real call is made, and mr_input_log logs what it gave.
 * When inputs are fed, the thread's next input is found and nothing real happens, unless the input
 * came from inside the program (a pipe between its threads): that happens again. mr_input_log does
 * nothing then.
 *
 * Inputs belong to threads (by their role), each in its thread's order: so a thread sees what it
 * saw, in whatever order threads run. An input that is not the one that is due ends the feeding for
 * its thread (mr_inputs_differ); so does the last one. From then on calls are real.
 *
 * Called by the owner of the baton, inside the runtime (mr_enter).
 */
#ifndef MR_RUNTIME_INPUTS_H
#define MR_RUNTIME_INPUTS_H

#include "inputs_format.h"
#include "state.h"

/* As the environment says; `log` is the path of the log. */
void mr_inputs_start(const char *log);
void mr_inputs_end(void);
/* In the child of a fork. */
void mr_inputs_forget(void);

bool mr_inputs_are_logged(void);
/* Inputs are fed in this process. */
bool mr_inputs_are_fed(void);

/* An input that is given again. */
typedef struct mr_input {
    const mr_input_head *head; /* NULL: there is none, the call is to be made */
    const uint8_t *data;
    size_t left;
} mr_input;

mr_input mr_input_find(const mr_thread *thread, mr_input_kind kind, uint64_t argument);
/* The next bytes of its data; returns how many there were. */
size_t mr_input_take(mr_input *input, void *to, size_t bytes);
/* Its result, with errno. */
int64_t mr_input_result(const mr_input *input);

typedef struct mr_input_part {
    const void *from;
    size_t bytes;
} mr_input_part;

/* What the call gave. `inside`: it is to be done again. */
void mr_input_log(const mr_thread *thread, mr_input_kind kind, uint64_t argument, bool inside,
                  int64_t result, const mr_input_part *parts, size_t count);

/* A number that comes from outside: that of the recording, when it is fed. */
int64_t mr_input_number(const mr_thread *thread, mr_input_kind kind, uint64_t argument,
                        int64_t number);

/* Between mr_input_call and mr_input_called, what a function writes for its caller is part of the
 * input (mr_input_written). True: it is fed, and `result` is there. */
bool mr_input_call(mr_thread *thread, const char *name, int64_t *result);
/* The same for a call that changes files: it may be made though it is fed. */
bool mr_input_change(mr_thread *thread, const char *name, int64_t *result);
/* A call that changes a file, and did so in the recording, has failed: says so once, unless it fails because the
 * file is there already, or no more. `name`: of the file or of the call. */
void mr_inputs_refused(const char *name);
void mr_input_written(void *to, size_t bytes);
void mr_input_called(mr_thread *thread, int64_t result);

/* Is it the descriptor of the inputs? */
bool mr_inputs_own(int fd);
/* It gets another number, which is its own from here on. */
void mr_inputs_renumber(void);

/* What a clock showed at the start, when the program looked at it; false: it is not known. */
bool mr_inputs_clock(int clock, int64_t *ns);
void mr_inputs_log_clock(int clock, int64_t ns);

/* Flags of descriptors are among the inputs, unless those that are fed are of an older version. */
bool mr_inputs_have_flags(void);
/* So are writes to sockets that it inherited, shutdown and sendfile. */
bool mr_inputs_have_sockets(void);
/* The mode of a descriptor that the program began with, when inputs are fed; 0: none. */
uint32_t mr_inputs_mode(int fd);
/* The program asks for its process number. */
void mr_inputs_log_process(void);
/* Process number in the recording, for this one, also in its children; others stay. */
long mr_inputs_process(long process);

/* The next input of the thread, when that is a signal; NULL: it is not. Then it is passed. */
const mr_input_head *mr_input_next_signal(const mr_thread *thread);
void mr_input_pass(const mr_thread *thread);
/* A thread asked for more than there is, or for something else, and the program had no children that could give it that. */
bool mr_inputs_ran_out(void);
/* The program has had children, whose data cannot be given again. */
bool mr_inputs_come_from_children(void);
/* Inputs are fed, and this signal is among them. */
bool mr_inputs_have_signal(int number);

/* The program uses something that cannot be given again: MR_INPUTS_UNFED_… */
void mr_inputs_unfed(unsigned what);
/* What of that was used, as a text; "" when nothing was. */
const char *mr_inputs_unfed_text(char *text, size_t room);

/* Who is to be told that an input is not the one that is due; NULL: standard error is. */
typedef void (*mr_inputs_differ)(const mr_thread *thread, const char *expected, const char *seen);
void mr_inputs_tell(mr_inputs_differ differ);

#endif
