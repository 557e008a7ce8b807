/*
 * The calls around atomic accesses of inline assembly (assembly_calls.h): what keeps the registers, and where the access is.
 */
#include "assembly_calls.h"

#include "state.h"

#if defined(__x86_64__)

#include <cpuid.h>

/* What the calls leave on the stack, from its lowest address on. */
typedef struct frame {
    uint64_t registers[16]; /* by their numbers in machine code; not the stack pointer */
    uint64_t flags;
    uintptr_t code; /* where the call goes back to */
    uint64_t what;  /* these three: of a call before an access */
    uintptr_t address;
    uint64_t accumulator; /* rax, which had the address when the call came */
} frame;

enum { ZERO_FLAG = 1 << 6, ACCUMULATOR = 0, DATA = 2 };

/* Is there xsave, with the registers that the system keeps? Else fxsave keeps those of before. */
static uint8_t mr_keeps_all __asm__("mr_assembly_keeps_all") __attribute__((used));

__attribute__((constructor(101))) static void look_at_processor(void)
{
    enum { OSXSAVE = 1 << 27 };
    unsigned a, b, c, d;
    mr_keeps_all = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & OSXSAVE) != 0;
}

/* Keeps flags and registers of all kinds, and calls the function with the frame, which may change registers for integers.
 * Does nothing while the thread is not recorded. The kinds of registers (0xe7) need less than 2752 bytes, of which the header must be 0. */
#define ENTRY(name, function)                                                                      \
    __asm__(                                                                                       \
        ".text\n"                                                                                  \
        ".globl " name "\n"                                                                        \
        ".type " name ", @function\n" name ":\n"                                                   \
        ".cfi_startproc\n"                                                                         \
        "pushfq\n"                                                                                 \
        "pushq %r15; pushq %r14; pushq %r13; pushq %r12; pushq %r11; pushq %r10; pushq %r9; "      \
        "pushq %r8\n"                                                                              \
        "pushq %rdi; pushq %rsi; pushq %rbp; pushq %rsp; pushq %rbx; pushq %rdx; pushq %rcx; "     \
        "pushq %rax\n"                                                                             \
        ".cfi_adjust_cfa_offset 136\n"                                                             \
        "movq mr_self@gottpoff(%rip), %rax\n"                                                      \
        "cmpq $0, %fs:(%rax)\n"                                                                    \
        "je 3f\n"                                                                                  \
        "movq %rsp, %rbx\n"                                                                        \
        ".cfi_rel_offset %rbx, 24\n"                                                               \
        ".cfi_def_cfa_register %rbx\n"                                                             \
        "cld\n"                                                                                    \
        "movq %rsp, %rdi\n"                                                                        \
        "subq $2752, %rsp\n"                                                                       \
        "andq $-64, %rsp\n"                                                                        \
        "cmpb $0, mr_assembly_keeps_all(%rip)\n"                                                   \
        "je 1f\n"                                                                                  \
        "xorl %eax, %eax\n"                                                                        \
        "movq %rax, 512(%rsp); movq %rax, 520(%rsp); movq %rax, 528(%rsp); movq %rax, 536(%rsp)\n" \
        "movq %rax, 544(%rsp); movq %rax, 552(%rsp); movq %rax, 560(%rsp); movq %rax, 568(%rsp)\n" \
        "movl $0xe7, %eax; xorl %edx, %edx; xsave64 (%rsp)\n"                                      \
        "call " #function "\n"                                                                     \
        "movl $0xe7, %eax; xorl %edx, %edx; xrstor64 (%rsp)\n"                                     \
        "jmp 2f\n"                                                                                 \
        "1: fxsave64 (%rsp)\n"                                                                     \
        "call " #function "\n"                                                                     \
        "fxrstor64 (%rsp)\n"                                                                       \
        "2: movq %rbx, %rsp\n"                                                                     \
        ".cfi_def_cfa_register %rsp\n"                                                             \
        "3: popq %rax; popq %rcx; popq %rdx; popq %rbx; leaq 8(%rsp), %rsp; popq %rbp; popq "      \
        "%rsi; popq %rdi\n"                                                                        \
        "popq %r8; popq %r9; popq %r10; popq %r11; popq %r12; popq %r13; popq %r14; popq %r15\n"   \
        "popfq\n"                                                                                  \
        ".cfi_adjust_cfa_offset -136\n"                                                            \
        ".cfi_restore %rbx\n"                                                                      \
        "ret\n"                                                                                    \
        ".cfi_endproc\n"                                                                           \
        ".size " name ", .-" name "\n")
ENTRY(MR_ASSEMBLY_BEGIN_NAME, mr_assembly_begin);
ENTRY(MR_ASSEMBLY_END_NAME, mr_assembly_end);
ENTRY(MR_ASSEMBLY_FENCE_NAME, mr_assembly_fence);
ENTRY(MR_ASSEMBLY_CLOCK_NAME, mr_assembly_clock);
#undef ENTRY

/* Where the word is that has the bit: the number of a bit may go beyond the operand, in both directions. */
static uintptr_t word_of(const frame *self, unsigned log2, unsigned number)
{
    int64_t bit = (int64_t)(number == ACCUMULATOR ? self->accumulator : self->registers[number]);
    bit = log2 == 1 ? (int16_t)bit : log2 == 2 ? (int32_t)bit : bit;
    return self->address + (uintptr_t)((bit >> (3 + log2)) * ((int64_t)1 << log2));
}

__attribute__((used, visibility("hidden"))) void mr_assembly_begin(const frame *self);
void mr_assembly_begin(const frame *self)
{
    unsigned log2 = self->what & 7;
    unsigned bit = (unsigned)(self->what >> MR_ASSEMBLY_BIT_SHIFT);
    uintptr_t address = bit != 0 ? word_of(self, log2, bit - 1) : self->address;
    unsigned kind = (unsigned)(self->what >> MR_ASSEMBLY_KIND_SHIFT) & 3;
    mr_atomic_assembly_begin((const void *)address, log2, kind, self->code);
}

__attribute__((used, visibility("hidden"))) void mr_assembly_end(const frame *self);
void mr_assembly_end(const frame *self)
{
    mr_atomic_assembly_end((self->flags & ZERO_FLAG) != 0, self->code);
}

__attribute__((used, visibility("hidden"))) void mr_assembly_fence(const frame *self);
void mr_assembly_fence(const frame *self)
{
    mr_atomic_assembly_fence(self->code);
}

/* The counter is in two halves, and the upper halves of both registers are 0. */
__attribute__((used, visibility("hidden"))) void mr_assembly_clock(frame *self);
void mr_assembly_clock(frame *self)
{
    uint64_t ticks = mr_clock_ticks(self->registers[DATA] << 32 | self->registers[ACCUMULATOR]);
    self->registers[ACCUMULATOR] = (uint32_t)ticks;
    self->registers[DATA] = ticks >> 32;
}

#endif
