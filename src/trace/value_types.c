#include "value_types.h"

#include "address_name.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void mr_value_types_free(mr_value_types *types)
{
    mr_names_free(&types->texts);
    free(types->number);
    *types = (mr_value_types){.count = 0};
}

bool mr_value_types_set_text(mr_value_types *types, uint32_t variable, const char *text,
                             uint32_t length)
{
    uint32_t number;
    void *numbers = types->number;
    if (!mr_names_add(&types->texts, text, length, &number) ||
        !mr_grow(&numbers, &types->capacity, (size_t)variable + 1, sizeof *types->number))
        return false;
    types->number = numbers;
    while (types->count <= variable)
        types->number[types->count++] = 0;
    types->number[variable] = number + 1;
    return true;
}

const char *mr_value_text(int64_t value, char text[MR_VALUE_BYTES])
{
    if (mr_address_is_likely(value))
        return mr_address_text((uint64_t)value, text);
    snprintf(text, MR_VALUE_BYTES, "%" PRId64, value);
    return text;
}

const char *mr_address_text(uint64_t address, char text[MR_VALUE_BYTES])
{
    int64_t value = (int64_t)address, uses = mr_address_uses(value);
    if (mr_address_is_likely(value) && uses)
        snprintf(text, MR_VALUE_BYTES, "0x%" PRIx64 "#%d", (uint64_t)mr_address_plain(value),
                 (int)uses + 1);
    else
        snprintf(text, MR_VALUE_BYTES, "0x%" PRIx64, address);
    return text;
}

/* Is the text the word, or the word and a blank? */
static bool is_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    return strncmp(text, word, length) == 0 && (text[length] == '\0' || text[length] == ' ');
}

/* The number of bits behind `prefix` in the first word of the type: "int16". 0: it is another type. */
static unsigned bits_of(const char *type, const char *prefix)
{
    static const struct {
        const char *word;
        unsigned bits;
    } sizes[] = {{"8", 8}, {"16", 16}, {"32", 32}, {"64", 64}};
    size_t length = strlen(prefix);
    if (strncmp(type, prefix, length) != 0)
        return 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (is_word(type + length, sizes[i].word))
            return sizes[i].bits;
    return 0;
}

/* The lowest bits as an unsigned and as a signed number. */
static uint64_t low_bits(int64_t value, unsigned bits)
{
    return bits < 64 ? (uint64_t)value & ((UINT64_C(1) << bits) - 1) : (uint64_t)value;
}

static int64_t signed_bits(int64_t value, unsigned bits)
{
    return (int64_t)((uint64_t)value << (64 - bits)) >> (64 - bits);
}

/* Is the value a number of so many bits, signed or unsigned? */
static bool has_bits(int64_t value, unsigned bits)
{
    return value == signed_bits(value, bits) || (uint64_t)value == low_bits(value, bits);
}

static bool put_number(int64_t value, unsigned bits, bool is_signed,
                       char text[MR_TYPED_VALUE_BYTES])
{
    if (is_signed)
        snprintf(text, MR_TYPED_VALUE_BYTES, "%" PRId64, signed_bits(value, bits));
    else
        snprintf(text, MR_TYPED_VALUE_BYTES, "%" PRIu64, low_bits(value, bits));
    return true;
}

static bool put_bool(int64_t value, char text[MR_TYPED_VALUE_BYTES])
{
    if (value != 0 && value != 1)
        return false;
    snprintf(text, MR_TYPED_VALUE_BYTES, "%s", value ? "true" : "false");
    return true;
}

static bool put_char(int64_t value, char text[MR_TYPED_VALUE_BYTES])
{
    static const char escaped[] = "\0\a\b\t\n\v\f\r'\\", letters[] = "0abtnvfr'\\";
    int c = (int)low_bits(value, 8);
    const char *found = memchr(escaped, c, sizeof escaped - 1);
    if (found)
        snprintf(text, MR_TYPED_VALUE_BYTES, "'\\%c'(%" PRId64 ")", letters[found - escaped],
                 value);
    else if (c >= ' ' && c < 0x7F)
        snprintf(text, MR_TYPED_VALUE_BYTES, "'%c'(%" PRId64 ")", c, value);
    else
        snprintf(text, MR_TYPED_VALUE_BYTES, "'\\x%02x'(%" PRId64 ")", (unsigned)c, value);
    return true;
}

static bool put_float(int64_t value, char text[MR_TYPED_VALUE_BYTES])
{
    enum { DIGITS = 9 };
    uint32_t bits = (uint32_t)low_bits(value, 32);
    float number;
    memcpy(&number, &bits, sizeof number);
    for (int digits = 1; digits <= DIGITS; digits++) {
        snprintf(text, MR_TYPED_VALUE_BYTES, "%.*g", digits, (double)number);
        if (strtof(text, NULL) == number)
            break;
    }
    return true;
}

static bool put_double(int64_t value, char text[MR_TYPED_VALUE_BYTES])
{
    enum { DIGITS = 17 };
    double number;
    memcpy(&number, &value, sizeof number);
    for (int digits = 1; digits <= DIGITS; digits++) {
        snprintf(text, MR_TYPED_VALUE_BYTES, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    return true;
}

static bool put_pointer(int64_t value, char text[MR_TYPED_VALUE_BYTES])
{
    if (value)
        mr_address_text((uint64_t)value, text);
    else
        snprintf(text, MR_TYPED_VALUE_BYTES, "null");
    return true;
}

/* The first enumerator of the value: "enum32 RED=0 GREEN=1". */
static bool put_enumerator(const char *type, int64_t value, unsigned bits,
                           char text[MR_TYPED_VALUE_BYTES])
{
    for (const char *at = strchr(type, ' '); at; at = strchr(at, ' ')) {
        size_t length = strcspn(++at, "= ");
        if (!length || at[length] != '=')
            continue;
        char *end;
        int64_t number = strtoll(at + length + 1, &end, 10);
        if (end == at + length + 1 || (*end != ' ' && *end != '\0') ||
            low_bits(number, bits) != low_bits(value, bits))
            continue;
        int written =
            snprintf(text, MR_TYPED_VALUE_BYTES, "%.*s(%" PRId64 ")", (int)length, at, number);
        return written > 0 && written < MR_TYPED_VALUE_BYTES;
    }
    return false;
}

bool mr_typed_value_text(const char *type, int64_t value, char text[MR_TYPED_VALUE_BYTES])
{
    unsigned bits;
    if (!type)
        return false;
    if (is_word(type, "bool"))
        return put_bool(value, text);
    if (is_word(type, "char"))
        return has_bits(value, 8) && put_char(value, text);
    if (is_word(type, "float"))
        return has_bits(value, 32) && put_float(value, text);
    if (is_word(type, "double"))
        return put_double(value, text);
    if (is_word(type, "pointer"))
        return put_pointer(value, text);
    if ((bits = bits_of(type, "int")) != 0)
        return has_bits(value, bits) && put_number(value, bits, true, text);
    if ((bits = bits_of(type, "uint")) != 0)
        return has_bits(value, bits) && put_number(value, bits, false, text);
    if ((bits = bits_of(type, "enum")) != 0)
        return has_bits(value, bits) && put_enumerator(type, value, bits, text);
    return false;
}
