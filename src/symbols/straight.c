#include "straight.h"

#include <string.h>

/* An instruction of x86-64, while it is read. */
typedef struct reader {
    const uint8_t *at, *end;
    bool narrow, wide; /* 16-bit operands; REX.W */
    bool bad;          /* a jump, unknown, or beyond the end */
} reader;

static uint8_t next(reader *r)
{
    if (r->at < r->end)
        return *r->at++;
    r->bad = true;
    return 0;
}

static void skip(reader *r, size_t bytes)
{
    if ((size_t)(r->end - r->at) < bytes)
        r->bad = true;
    else
        r->at += bytes;
}

/* The byte ModRM with what belongs to it. Returns its field reg. */
static unsigned operand(reader *r)
{
    uint8_t modrm = next(r);
    unsigned mode = modrm >> 6, rm = modrm & 7, base = 0;
    if (mode != 3 && rm == 4)
        base = next(r) & 7;
    if (mode == 1)
        skip(r, 1);
    else if (mode == 2 || (mode == 0 && (rm == 5 || (rm == 4 && base == 5))))
        skip(r, 4);
    return modrm >> 3 & 7;
}

static size_t immediate_bytes(const reader *r)
{
    return r->narrow ? 2 : 4;
}

/* The opcodes 00 … 3F: eight operations, each in the same six forms. */
static void read_arithmetic(reader *r, uint8_t op)
{
    if ((op & 7) < 4)
        operand(r);
    else if ((op & 7) == 4)
        skip(r, 1);
    else if ((op & 7) == 5)
        skip(r, immediate_bytes(r));
    else
        r->bad = true;
}

/* Opcodes of two and three bytes, without the 0F. */
static void read_two(reader *r)
{
    uint8_t op = next(r);
    bool jumps = op >= 0x80 && op <= 0x8f;
    bool has_byte = (op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac || op == 0xba ||
                    op == 0xc2 || (op >= 0xc4 && op <= 0xc6) || op == 0x3a;
    bool known = (op >= 0x10 && op <= 0x17) || (op >= 0x1e && op <= 0x1f) ||
                 (op >= 0x28 && op <= 0x2f) || (op >= 0x40 && op <= 0x76) ||
                 (op >= 0x7e && op <= 0x7f) || (op >= 0x90 && op <= 0x9f) || op == 0xa3 ||
                 op == 0xa5 || op == 0xab || op == 0xad || op == 0xaf || op == 0xb0 || op == 0xb1 ||
                 op == 0xb3 || op == 0xb6 || op == 0xb7 || (op >= 0xbb && op <= 0xc1) ||
                 (op >= 0xd0 && op <= 0xfe);
    if (op >= 0xc8 && op <= 0xcf) /* bswap */
        return;
    if (op == 0x38 || op == 0x3a) {
        next(r);
        known = true;
    }
    if (jumps || (!known && !has_byte)) {
        r->bad = true;
        return;
    }
    operand(r);
    if (has_byte)
        skip(r, 1);
}

/* F6, F7, FE, FF: what they do is in ModRM. */
static void read_group(reader *r, uint8_t op)
{
    unsigned which = operand(r);
    if (op == 0xff)
        r->bad |= which == 3 || which == 4 || which == 5 || which == 7; /* far calls, jumps */
    else if (op != 0xfe && which < 2)
        skip(r, op == 0xf6 ? 1 : immediate_bytes(r));
}

static void read_one(reader *r, uint8_t op)
{
    if (op < 0x40)
        read_arithmetic(r, op);
    else if ((op >= 0x50 && op <= 0x5f) || op == 0x90 || op == 0x98 || op == 0x99)
        return;
    else if (op == 0x63 || (op >= 0x84 && op <= 0x8b) || op == 0x8d || (op >= 0xd0 && op <= 0xd3))
        operand(r);
    else if (op == 0x80 || op == 0x83 || op == 0x6b || op == 0xc0 || op == 0xc1 || op == 0xc6) {
        operand(r);
        skip(r, 1);
    } else if (op == 0x81 || op == 0x69 || op == 0xc7) {
        operand(r);
        skip(r, immediate_bytes(r));
    } else if (op == 0x6a || op == 0xa8 || (op >= 0xb0 && op <= 0xb7))
        skip(r, 1);
    else if (op == 0x68 || op == 0xa9)
        skip(r, immediate_bytes(r));
    else if (op >= 0xb8 && op <= 0xbf)
        skip(r, r->wide ? 8 : immediate_bytes(r));
    else if (op == 0xe8)
        skip(r, 4);
    else if (op == 0xf6 || op == 0xf7 || op == 0xfe || op == 0xff)
        read_group(r, op);
    else
        r->bad = true;
}

static void read_instruction(reader *r)
{
    r->narrow = r->wide = false;
    uint8_t op = next(r);
    while (op == 0x66 || op == 0xf2 || op == 0xf3 || op == 0xf0 || op == 0x2e || op == 0x3e ||
           op == 0x64 || op == 0x65) {
        r->narrow |= op == 0x66;
        op = next(r);
    }
    if (op >= 0x40 && op <= 0x4f) {
        r->wide = op & 8;
        op = next(r);
    }
    if (op == 0x0f)
        read_two(r);
    else
        read_one(r, op);
}

static bool is_jump_of_aarch64(uint32_t word)
{
    return (word >> 24 & 0xff) == 0x54 ||                              /* B.cond */
           (word >> 25 & 0x3f) == 0x1a ||                              /* CBZ, CBNZ */
           (word >> 25 & 0x3f) == 0x1b ||                              /* TBZ, TBNZ */
           (word >> 26 & 0x3f) == 0x05 ||                              /* B */
           ((word >> 25 & 0x7f) == 0x6b && (word >> 21 & 0xf) != 1) || /* BR, RET; not BLR */
           (word >> 24 & 0xff) == 0xd4;                                /* BRK, SVC */
}

bool mr_code_is_straight(const uint8_t *code, size_t bytes, bool is_aarch64)
{
    if (bytes > MR_STRAIGHT_BYTES)
        return false;
    if (is_aarch64) {
        for (size_t i = 0; i + 4 <= bytes; i += 4) {
            uint32_t word;
            memcpy(&word, code + i, sizeof word);
            if (is_jump_of_aarch64(word))
                return false;
        }
        return bytes % 4 == 0;
    }
    reader r = {.at = code, .end = code + bytes};
    while (r.at < r.end && !r.bad)
        read_instruction(&r);
    return !r.bad;
}
