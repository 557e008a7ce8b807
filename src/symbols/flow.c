#include "flow.h"

/* Registers by their numbers. */
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, REGISTERS = 16, NO_REGISTER = 16 };

enum { NOP = 0x90 };

/* What a call may change. */
enum { CALL_CHANGES = 1 << RAX | 1 << RCX | 1 << RDX | 1 << RSI | 1 << RDI | 0xf << 8 };

/* An instruction of x86-64, while it is read. */
typedef struct reader {
    const uint8_t *at, *end;
    bool narrow, wide; /* 16-bit operands; REX.W */
    uint8_t rex;
    bool bad; /* a jump, unknown, or beyond the end */
    /* of the instruction */
    uint8_t op; /* its first byte; 0x0f: one of two bytes */
    bool has_operand, is_memory;
    unsigned reg, rm; /* registers; of memory NO_REGISTER */
    unsigned base;    /* of memory: a register, or NO_REGISTER */
    bool has_index;
    int32_t displacement;
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

static void read_displacement(reader *r, unsigned bytes)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint32_t)next(r) << 8 * i;
    r->displacement = bytes == 1 ? (int8_t)value : (int32_t)value;
}

/* The byte ModRM with what belongs to it. Returns its field reg, without the bit of the prefix. */
static unsigned operand(reader *r)
{
    uint8_t modrm = next(r);
    unsigned mode = modrm >> 6, rm = modrm & 7, base = rm;
    r->has_operand = true;
    r->is_memory = mode != 3;
    r->reg = (modrm >> 3 & 7) | (r->rex & 4) << 1;
    r->rm = r->is_memory ? NO_REGISTER : rm | (r->rex & 1) << 3;
    if (r->is_memory && rm == 4) {
        uint8_t sib = next(r);
        base = sib & 7;
        r->has_index = (sib >> 3 & 7) != 4 || r->rex & 2;
    }
    bool no_base = mode == 0 && base == 5;
    r->base = no_base ? NO_REGISTER : base | (r->rex & 1u) << 3;
    if (mode == 1)
        read_displacement(r, 1);
    else if (mode == 2 || no_base)
        read_displacement(r, 4);
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
    if (op == 0x1e || op == 0x1f)
        r->op = NOP;
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
    else if ((op >= 0x50 && op <= 0x5f) || op == NOP || op == 0x98 || op == 0x99)
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
    *r = (reader){.at = r->at, .end = r->end, .rm = NO_REGISTER, .base = NO_REGISTER};
    uint8_t op = next(r);
    while (op == 0x66 || op == 0xf2 || op == 0xf3 || op == 0xf0 || op == 0x2e || op == 0x3e ||
           op == 0x64 || op == 0x65) {
        r->narrow |= op == 0x66;
        op = next(r);
    }
    if (op >= 0x40 && op <= 0x4f) {
        r->rex = op & 0xf;
        r->wide = op & 8;
        op = next(r);
    }
    r->op = op;
    if (op == 0x0f)
        read_two(r);
    else
        read_one(r, op);
}

/* ---- where the value is ---- */

enum { SLOTS = 8 };

typedef struct flow {
    uint32_t registers; /* that have the value, or a number more, as bits */
    struct {
        unsigned base;
        int32_t displacement;
    } slots[SLOTS]; /* of the frame, that have it */
    unsigned slot_count;
    bool is_loaded; /* the value has been loaded */
} flow;

static bool in_frame(const reader *r)
{
    return r->is_memory && !r->has_index && (r->base == RBP || r->base == RSP);
}

static unsigned find_slot(const flow *f, const reader *r)
{
    unsigned i = 0;
    while (i < f->slot_count &&
           (f->slots[i].base != r->base || f->slots[i].displacement != r->displacement))
        i++;
    return i;
}

static void set_register(flow *f, unsigned number, bool has)
{
    if (number < REGISTERS)
        f->registers = has ? f->registers | 1u << number : f->registers & ~(1u << number);
}

static bool has_register(const flow *f, unsigned number)
{
    return number < REGISTERS && f->registers >> number & 1;
}

/* A store into the frame. One of another width, or into a slot beside, is left to the rule that compilers
 * keep what is alive whole: it makes the value forgotten everywhere in the frame. */
static void store(flow *f, const reader *r, bool has)
{
    unsigned i = find_slot(f, r);
    if (!r->wide || (i == f->slot_count && has && i == SLOTS)) {
        f->slot_count = 0;
        return;
    }
    if (i < f->slot_count && !has)
        f->slots[i] = f->slots[--f->slot_count];
    if (i == f->slot_count && has) {
        f->slots[i].base = r->base;
        f->slots[i].displacement = r->displacement;
        f->slot_count++;
    }
}

/* A load of 64 bits: from the frame what lies there, and once the value itself. */
static void load(flow *f, const reader *r)
{
    bool has = in_frame(r) ? find_slot(f, r) < f->slot_count : !f->is_loaded;
    if (!in_frame(r))
        f->is_loaded = true;
    set_register(f, r->reg, has);
}

/* Any other instruction: what it may write has the value no more. */
static void overwrite(flow *f, const reader *r)
{
    bool compares = !r->narrow && (r->op == 0x85 || r->op == 0x84 || r->op == 0x39 ||
                                   r->op == 0x3b || r->op == 0x38 || r->op == 0x3a);
    if (compares || r->op == NOP)
        return;
    if (r->op >= 0x50 && r->op <= 0x5f) { /* push, pop: the frame moves */
        f->slot_count = 0;
        set_register(f, (r->op & 7u) | (r->rex & 1u) << 3, false);
        return;
    }
    if (r->op >= 0xb0 && r->op <= 0xbf) {
        set_register(f, (r->op & 7u) | (r->rex & 1u) << 3, false);
        return;
    }
    if (!r->has_operand || r->op == 0xf6 || r->op == 0xf7) {
        f->registers &= ~(1u << RAX | 1u << RCX | 1u << RDX);
    }
    set_register(f, r->reg, false);
    set_register(f, r->rm, false);
    if (in_frame(r))
        f->slot_count = 0;
    if (r->rm == RSP)
        f->slot_count = 0;
}

static void step(flow *f, const reader *r)
{
    bool calls = r->op == 0xe8 || (r->op == 0xff && r->has_operand && (r->reg & 7) == 2);
    bool adds = r->op == 0x83 && !r->is_memory && (r->reg & 7) == 0 && r->wide && r->rm != RSP;
    if (calls) {
        f->registers &= ~(uint32_t)CALL_CHANGES;
        f->is_loaded = true; /* else it was used where it lies */
    } else if (r->op == 0x8b && r->wide && r->is_memory)
        load(f, r);
    else if (r->op == 0x8b && r->wide)
        set_register(f, r->reg, has_register(f, r->rm));
    else if (r->op == 0x89 && r->wide && in_frame(r))
        store(f, r, has_register(f, r->reg));
    else if (r->op == 0x89 && r->wide && !r->is_memory)
        set_register(f, r->rm, has_register(f, r->reg));
    else if (r->op == 0x8d && r->wide && !r->has_index)
        set_register(f, r->reg, has_register(f, r->base));
    else if (r->op == 0x89 && r->is_memory && !in_frame(r))
        f->is_loaded = true; /* a store elsewhere */
    else if (!adds)
        overwrite(f, r);
    if (r->is_memory && !in_frame(r) && r->op != 0x8d)
        f->is_loaded = true; /* the access that was logged, whatever it is */
}

bool mr_code_uses_value(const uint8_t *code, size_t bytes, bool is_returned)
{
    reader r = {.at = code, .end = code + bytes};
    flow f = {.registers = is_returned ? 1 << RAX : 0, .is_loaded = is_returned};
    bool used = false;
    if (bytes > MR_FLOW_BYTES)
        return false;
    while (r.at < r.end) {
        used = has_register(&f, RDI); /* when this is the call */
        read_instruction(&r);
        if (r.bad)
            return false;
        step(&f, &r);
    }
    bool calls = r.op == 0xe8 || (r.op == 0xff && r.has_operand && (r.reg & 7) == 2);
    return used && bytes > 0 && calls;
}
