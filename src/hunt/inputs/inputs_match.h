/*
 * inputs_match: where an operand of a comparison stands in an input.
 *
 * As a sum over bytes (solver/byte_query.h), the factors of which follow from the encoding: little or big
 * endian of 8, 4, 2 or 1 bytes (of a narrower one also when its sign was extended), or decimal digits. What
 * a sum cannot say, a replacement by a text of another length, is made directly.
 */
#ifndef MR_HUNT_INPUTS_MATCH_H
#define MR_HUNT_INPUTS_MATCH_H

#include "inputs_state.h"

#include "solver/byte_query.h"

enum { MR_FORM_TERMS = 20 };

/* The operand is a constant plus these terms. */
typedef struct mr_operand_form {
    mr_byte_term terms[MR_FORM_TERMS];
    uint32_t count;
    bool digits; /* the bytes are to stay decimal digits */
} mr_operand_form;

/* The first `most` forms in which the number, of `width` bytes, stands in the input; long ones first. */
uint32_t mr_match_number(const mr_input_bytes *input, uint64_t value, unsigned width,
                         mr_operand_form *forms, uint32_t most);

/* Offers inputs in which the number, where it stands as digits or is the length, is another one.
 * `index` is that of the input in the corpus. False: no memory, here and below. */
bool mr_replace_number(mr_inputs *inputs, uint32_t index, uint64_t value, uint64_t wanted,
                       unsigned width);

/* Offers inputs in which one text stands in the place of the other, in both directions. */
bool mr_replace_text(mr_inputs *inputs, uint32_t index, const mr_compared *compared);

#endif
