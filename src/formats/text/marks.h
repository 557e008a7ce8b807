/*
 * marks: where certain characters stand among the next bytes, as bit masks (bit i: byte i), so that
 * lines are found and taken apart without a loop over their bytes.
 *
 * With SSE2 where the compiler has it, else with 64-bit words (mr_…_by_words, always there for the
 * tests); both give the same masks.
 */
#ifndef MR_FORMATS_TEXT_MARKS_H
#define MR_FORMATS_TEXT_MARKS_H

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { MR_MARKS_BYTES = 64, MR_DIGITS_BYTES = 16 };

/* 0x80 in each byte of `word` that equals `byte`, exactly. */
static inline uint64_t mr_marks_equal(uint64_t word, uint8_t byte)
{
    const uint64_t low = 0x7F7F7F7F7F7F7F7Fu;
    uint64_t difference = word ^ (byte * 0x0101010101010101u);
    return ~(((difference & low) + low) | difference | low);
}

/* Bit i from the highest bit of byte i; the first byte in memory is byte 0. */
static inline uint64_t mr_marks_gather(uint64_t high_bits)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    high_bits = __builtin_bswap64(high_bits);
#endif
    return ((high_bits >> 7) * 0x0102040810204080u) >> 56;
}

static inline uint64_t mr_marks_load(const char *text)
{
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return word;
}

/* The first `length` < 8 bytes, then zeros; 8 can be read. */
static inline uint64_t mr_marks_low(const char *text, uint32_t length)
{
    static const uint64_t low_bytes[] = {
        0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF,
    };
    uint64_t word = mr_marks_load(text);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word & low_bytes[length];
}

static inline uint64_t mr_shape_by_words(const char *text)
{
    uint64_t shape = 0;
    for (int i = 0; i < MR_MARKS_BYTES; i += 8) {
        uint64_t word = mr_marks_load(text + i);
        shape |= mr_marks_gather(mr_marks_equal(word, '|') | mr_marks_equal(word, '(') |
                                 mr_marks_equal(word, ')') | mr_marks_equal(word, '='))
                 << i;
    }
    return shape;
}

static inline uint64_t mr_newlines_by_words(const char *text)
{
    uint64_t newlines = 0;
    for (int i = 0; i < MR_MARKS_BYTES; i += 8)
        newlines |= mr_marks_gather(mr_marks_equal(mr_marks_load(text + i), '\n')) << i;
    return newlines;
}

static inline uint32_t mr_digits_by_words(const char *text)
{
    uint64_t digits = 0;
    for (int i = 0; i < MR_DIGITS_BYTES; i += 8) {
        uint64_t word = mr_marks_load(text + i);
        /* A digit: high half 3, and the low half plus 6 stays below 16. */
        uint64_t high = mr_marks_equal(word & 0xF0F0F0F0F0F0F0F0u, 0x30);
        uint64_t over = ((word & 0x0F0F0F0F0F0F0F0Fu) + 0x0606060606060606u) << 3;
        digits |= mr_marks_gather(high & ~over) << i;
    }
    return (uint32_t)digits;
}

#ifdef __SSE2__
static inline uint64_t mr_shape_of_16(const char *text)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)text);
    /* '(' and ')' differ in the lowest bit only. */
    __m128i shape = _mm_cmpeq_epi8(_mm_or_si128(bytes, _mm_set1_epi8(1)), _mm_set1_epi8(')'));
    shape = _mm_or_si128(shape, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('|')));
    shape = _mm_or_si128(shape, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('=')));
    return (unsigned)_mm_movemask_epi8(shape);
}

static inline uint64_t mr_newlines_of_16(const char *text)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)text);
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')));
}

/* '|' '(' ')' '=' among the 64 bytes at `text`. */
static inline uint64_t mr_shape_of(const char *text)
{
    return mr_shape_of_16(text) | mr_shape_of_16(text + 16) << 16 |
           mr_shape_of_16(text + 32) << 32 | mr_shape_of_16(text + 48) << 48;
}

/* Newlines among the 64 bytes at `text`. */
static inline uint64_t mr_newlines_of(const char *text)
{
    return mr_newlines_of_16(text) | mr_newlines_of_16(text + 16) << 16 |
           mr_newlines_of_16(text + 32) << 32 | mr_newlines_of_16(text + 48) << 48;
}

/* '0' … '9' among the 16 bytes at `text`. */
static inline uint32_t mr_digits_of(const char *text)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)text);
    __m128i above = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
    __m128i digits = _mm_cmpeq_epi8(_mm_min_epu8(above, _mm_set1_epi8(9)), above);
    return (uint32_t)_mm_movemask_epi8(digits);
}
#else
static inline uint64_t mr_shape_of(const char *text)
{
    return mr_shape_by_words(text);
}

static inline uint64_t mr_newlines_of(const char *text)
{
    return mr_newlines_by_words(text);
}

static inline uint32_t mr_digits_of(const char *text)
{
    return mr_digits_by_words(text);
}
#endif

#endif
