/*
 * value_types: the types of variables, so that reports show a value as its source writes it. Nothing
 * else reads them: a verdict does not depend on a type.
 *
 * A type is a text. The line `#@type VARIABLE TYPE` of a text and the TYPES chunk of an .mrt file say
 * it. Of a value v:
 *
 *   bool                     false, true
 *   char                     'a'(97)
 *   int8 int16 int32 int64   v as a signed number of so many bits
 *   uint8 … uint64           v as an unsigned one
 *   float, double            the number whose bits v is, in as few digits as tell it from others
 *   pointer                  null, or hexadecimal
 *   enum32 RED=0 GREEN=1     GREEN(1); enum8, enum16, enum64 likewise
 *
 * Another text is kept, and its values are shown as those without a type (mr_value_text). So is a
 * value that the type cannot have: a bool 7, an enum without this enumerator, 300 in an int8. A
 * number of n bits may be given with or without its sign: 255 and -1 are the same uint8.
 */
#ifndef MR_TRACE_VALUE_TYPES_H
#define MR_TRACE_VALUE_TYPES_H

#include "names.h"

typedef struct mr_value_types {
    mr_names texts;   /* the types, each once */
    uint32_t *number; /* by variable, of the first `count` ones: in `texts`, plus 1; 0: no type */
    uint32_t count;
    size_t capacity;
} mr_value_types;

/* Zero-initialise. */
void mr_value_types_free(mr_value_types *types);

/* Sets the type of a variable. False: no memory. */
bool mr_value_types_set_text(mr_value_types *types, uint32_t variable, const char *text,
                             uint32_t length);

/* The type of a variable; NULL: it has none. */
static inline const char *mr_value_types_text(const mr_value_types *types, uint32_t variable)
{
    uint32_t number = variable < types->count ? types->number[variable] : 0;
    return number ? types->texts.items[number - 1].text : NULL;
}

enum { MR_VALUE_BYTES = 24, MR_TYPED_VALUE_BYTES = 128 };

/* A value as people read it: what can be an address of a process (address_name.h) as mr_address_text, else decimal. */
const char *mr_value_text(int64_t value, char text[MR_VALUE_BYTES]);

/* An address as people read it: hexadecimal, and "#3" says that it is that of the third block there. */
const char *mr_address_text(uint64_t address, char text[MR_VALUE_BYTES]);

/* Writes a value by its type. False, and nothing written: the type is not known (NULL: none), or
 * cannot have the value. */
bool mr_typed_value_text(const char *type, int64_t value, char text[MR_TYPED_VALUE_BYTES]);

#endif
