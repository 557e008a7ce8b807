/*
 * straight: does a thread that has come to one place of the code certainly come to another? It does
 * when the machine code between them has no jump, in which case no test stands between them. Calls may
 * be there: what does not return is not looked for.
 *
 * The instructions are measured one after the other (x86-64: as compilers use them for integers,
 * addresses and SSE; AArch64: 4 bytes each). Code with an instruction that is not known is not straight,
 * so an answer "straight" is right, and the other one may be too careful.
 */
#ifndef MR_SYMBOLS_STRAIGHT_H
#define MR_SYMBOLS_STRAIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MR_STRAIGHT_BYTES = 512 }; /* longer code is not looked at */

/* Is the code, which begins with an instruction, straight, and does an instruction begin behind it? */
bool mr_code_is_straight(const uint8_t *code, size_t bytes, bool is_aarch64);

#endif
