/*
 * keys: the runtime's own key of thread-specific data, whose destructor tells that a thread ends.
 *
 * The program cannot name it: for the functions of keys it is one that nobody has made. It is the
 * last of those that need no memory of their own in a thread (glibc), so keys of the program have
 * the numbers that they always have, and their destructors run before ours.
 */
#ifndef MR_RUNTIME_KEYS_H
#define MR_RUNTIME_KEYS_H

#include <stdbool.h>

/* Makes the key, once; false: there are no more keys. */
bool mr_end_key_make(void (*at_end)(void *value));

/* Sets the calling thread's value; NULL: no destructor runs. */
void mr_end_key_set(void *value);

#endif
