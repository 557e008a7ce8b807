/*
 * marks: where the characters that give a line its shape stand among the next 64 bytes, as bit
 * masks (bit i: byte i), so that a line is taken apart without a loop over its bytes.
 *
 * With SSE2 where the compiler has it, else with 64-bit words; both give the same masks.
 */
#ifndef MR_TRACE_MARKS_H
#define MR_TRACE_MARKS_H

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { MR_MARKS_BYTES = 64 };

typedef struct mr_marks {
    uint64_t shape;  /* '|' '(' ')' '=' and the newline */
    uint64_t digits; /* '0' … '9' */
} mr_marks;

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

/* The portable way. 64 bytes at `text` can be read. */
static inline mr_marks mr_marks_by_words(const char *text)
{
    mr_marks marks = {0, 0};
    for (int i = 0; i < MR_MARKS_BYTES / 8; i++) {
        uint64_t word;
        memcpy(&word, text + 8 * i, sizeof word);
        uint64_t shape = mr_marks_equal(word, '|') | mr_marks_equal(word, '(') |
                         mr_marks_equal(word, ')') | mr_marks_equal(word, '=') |
                         mr_marks_equal(word, '\n');
        marks.shape |= mr_marks_gather(shape) << (8 * i);
        /* A digit: high half 3, and the low half plus 6 stays below 16. */
        uint64_t high = mr_marks_equal(word & 0xF0F0F0F0F0F0F0F0u, 0x30);
        uint64_t over = ((word & 0x0F0F0F0F0F0F0F0Fu) + 0x0606060606060606u) << 3;
        marks.digits |= mr_marks_gather(high & ~over) << (8 * i);
    }
    return marks;
}

#ifdef __SSE2__
static inline mr_marks mr_marks_of(const char *text)
{
    mr_marks marks = {0, 0};
    for (int i = 0; i < MR_MARKS_BYTES / 16; i++) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(text + 16 * i));
        /* '(' and ')' differ in the lowest bit only. */
        __m128i shape = _mm_cmpeq_epi8(_mm_or_si128(bytes, _mm_set1_epi8(1)), _mm_set1_epi8(')'));
        shape = _mm_or_si128(shape, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('|')));
        shape = _mm_or_si128(shape, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('=')));
        shape = _mm_or_si128(shape, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')));
        __m128i above = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
        __m128i digits = _mm_cmpeq_epi8(_mm_min_epu8(above, _mm_set1_epi8(9)), above);
        marks.shape |= (uint64_t)(unsigned)_mm_movemask_epi8(shape) << (16 * i);
        marks.digits |= (uint64_t)(unsigned)_mm_movemask_epi8(digits) << (16 * i);
    }
    return marks;
}
#else
static inline mr_marks mr_marks_of(const char *text)
{
    return mr_marks_by_words(text);
}
#endif

#endif
