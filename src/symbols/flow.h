/*
 * flow: does a function use the value that it has just read as the address of its next access?
 *
 * A read is logged by a call (of the runtime) just before the load, or returns its value, when it is
 * atomic. A later access is logged by another call, with its address as the first argument. The value is
 * used as an address when the machine code between the two is *straight*, without a jump, so that no test
 * stands between them, and the first argument of the last call comes from the value: by moves between
 * registers and slots of the frame, and by adding a number.
 *
 *   call __tsan_read8      ← the read; the code begins here
 *   mov  head(%rip),%rbx     the first load from outside the frame is the load of the read
 *   lea  0x8(%rbx),%rdi
 *   call __tsan_read4      ← the access; the code ends behind it
 *
 * For x86-64, as compilers write it for integers, addresses and SSE. What is not known is no use, so "it
 * uses it" is right, and the other answer may be too careful. Calls between are taken to return.
 */
#ifndef MR_SYMBOLS_FLOW_H
#define MR_SYMBOLS_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MR_FLOW_BYTES = 512 }; /* longer code is not looked at */

/* `is_returned`: the value is what the call before the code returned. */
bool mr_code_uses_value(const uint8_t *code, size_t bytes, bool is_returned);

#endif
