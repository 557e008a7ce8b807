#include "assembly.h"

#if defined(__x86_64__)

enum {
    LOCK = 0xf0,
    TWO_BYTES = 0x0f, /* a code of two bytes: its second follows */
    LONGEST = 8,      /* of what is looked at */
    IN_REGISTERS = 3, /* the mode of operands that are no memory */
};

/* Codes of two bytes that only make sense with memory and a lock prefix. */
static bool is_atomic(const uint8_t *at)
{
    unsigned extension = at[1] >> 3 & 7;
    if (at[1] >> 6 == IN_REGISTERS) {
        return false;
    }
    switch (at[0]) {
    case 0xb0: /* compare and exchange */
    case 0xb1:
    case 0xc0: /* exchange and add */
    case 0xc1:
    case 0xab: /* test and set, reset, complement a bit */
    case 0xb3:
    case 0xbb:
        return true;
    case 0xc7: /* compare and exchange of 8 or 16 bytes */
        return extension == 1;
    case 0xba: /* test and set, reset, complement a bit whose number follows */
        return extension >= 5;
    default:
        return false;
    }
}

/* Adds or "or"s 0 to the top of the stack. */
static bool is_fence(const uint8_t *at)
{
    return at[0] == 0x83 && (at[1] == 0x04 || at[1] == 0x0c) && at[2] == 0x24 && at[3] == 0;
}

/* Are the calls around it that make it visible (assembler/rewrite.h)? Then the stack pointer is put back just before. */
static bool is_seen(const uint8_t *code, size_t at)
{
    static const uint8_t back[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0}; /* lea 128(%rsp), %rsp */
    at -= at > 0 && code[at - 1] == 0x66; /* of 2 bytes: this prefix may come first */
    for (size_t i = 0; i < sizeof back; i++) {
        if (at < sizeof back || code[at - sizeof back + i] != back[i]) {
            return false;
        }
    }
    return true;
}

bool mr_has_assembly(const uint8_t *code, size_t bytes)
{
    for (size_t i = 0; i + LONGEST <= bytes; i++) {
        if (code[i] != LOCK) {
            continue;
        }
        const uint8_t *at = code + i + 1;
        at += *at == 0x66;          /* 2 bytes */
        at += (*at & 0xf0) == 0x40; /* 8 bytes, or registers from r8 on */
        if ((is_fence(at) || (*at == TWO_BYTES && is_atomic(at + 1))) && !is_seen(code, i)) {
            return true;
        }
    }
    return false;
}

#else

bool mr_has_assembly(const uint8_t *code, size_t bytes)
{
    (void)code;
    (void)bytes;
    return false;
}

#endif
