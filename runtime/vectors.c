#include "vectors.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <stdint.h>

/* Is there xsave, with the registers that the system keeps? Else fxsave keeps those of before. */
static uint8_t mr_keeps_all __asm__("mr_vectors_keeps_all") __attribute__((used));

__attribute__((constructor(101))) static void look_at_processor(void)
{
    enum { OSXSAVE = 1 << 27 };
    unsigned a, b, c, d;
    mr_keeps_all = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & OSXSAVE) != 0;
}

/* The kinds of registers (0xe6) need less than 2752 bytes, of which the header must be 0. */
__asm__(".text\n"
        ".globl mr_vectors_kept\n"
        ".hidden mr_vectors_kept\n"
        ".type mr_vectors_kept, @function\n"
        "mr_vectors_kept:\n"
        ".cfi_startproc\n"
        "pushq %rbp\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %rbp, 0\n"
        "movq %rsp, %rbp\n"
        ".cfi_def_cfa_register %rbp\n"
        "movq %rdi, %rcx\n"
        "movq %rsi, %rdi\n"
        "subq $2752, %rsp\n"
        "andq $-64, %rsp\n"
        "cmpb $0, mr_vectors_keeps_all(%rip)\n"
        "je 1f\n"
        "xorl %eax, %eax\n"
        "movq %rax, 512(%rsp); movq %rax, 520(%rsp); movq %rax, 528(%rsp); movq %rax, 536(%rsp)\n"
        "movq %rax, 544(%rsp); movq %rax, 552(%rsp); movq %rax, 560(%rsp); movq %rax, 568(%rsp)\n"
        "movl $0xe6, %eax; xorl %edx, %edx; xsave64 (%rsp)\n"
        "call *%rcx\n"
        "movl $0xe6, %eax; xorl %edx, %edx; xrstor64 (%rsp)\n"
        "jmp 2f\n"
        "1: fxsave64 (%rsp)\n"
        "call *%rcx\n"
        "fxrstor64 (%rsp)\n"
        "2: leave\n"
        ".cfi_def_cfa %rsp, 8\n"
        ".cfi_restore %rbp\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size mr_vectors_kept, .-mr_vectors_kept\n");

#else

void mr_vectors_kept(void (*what)(mr_thread *), mr_thread *thread)
{
    what(thread);
}

#endif
