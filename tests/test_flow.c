/* Is the value that was read the address of the next access (symbols/flow.h)? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symbols/flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The parts of an example, in hexadecimal. */
#define LOAD_RBX   "488b1df32f0000" /* mov 0x2ff3(%rip),%rbx */
#define LOAD_RAX   "488b05f32f0000"
#define LOAD_EAX   "8b05f32f0000"
#define RDI_RBX    "4889df" /* mov %rbx,%rdi */
#define RDI_RAX    "4889c7"
#define RDI_RBX_8  "488d7b08" /* lea 0x8(%rbx),%rdi */
#define RDI_OTHER  "4c89e7"   /* mov %r12,%rdi */
#define CALL       "e800000000"
#define TO_SLOT    "488945f8" /* mov %rax,-0x8(%rbp) */
#define FROM_SLOT  "488b45f8"
#define OTHER_SLOT "488b45f0"
#define INTO_SLOT  "48c745f800000000" /* movq $0x0,-0x8(%rbp) */
#define AT_RAX     "488b00"           /* mov (%rax),%rax */
#define TEST_RBX   "4885db"
#define JUMP       "7402"

static const struct {
    const char *code;
    bool is_returned, uses;
    const char *text;
} known[] = {
    {LOAD_RBX RDI_RBX CALL, false, true, "p->first"},
    {LOAD_RBX RDI_RBX_8 CALL, false, true, "p->second"},
    {LOAD_RBX CALL RDI_RBX_8 CALL, false, true, "another access between"},
    {LOAD_RAX CALL RDI_RAX CALL, false, false, "that takes the register"},
    {LOAD_RBX TEST_RBX JUMP RDI_RBX CALL, false, false, "tested before"},
    {LOAD_RBX TEST_RBX "0f8400000000" RDI_RBX CALL, false, false, "the same, a far jump"},
    {LOAD_RBX "eb02" RDI_RBX CALL, false, false, "a jump"},
    {LOAD_RBX "ffe0" RDI_RBX CALL, false, false, "a jump to what a register says"},
    {LOAD_RBX "c3" RDI_RBX CALL, false, false, "a return"},
    {LOAD_RBX "4c39e3"
              "0f94c0" RDI_OTHER CALL,
     false, false, "mine->first = head == mine"},
    {"4c3925f32f0000"
     "0f94c0" RDI_OTHER CALL,
     false, false, "the same, compared where it lies"},
    {"4c3925f32f0000" CALL LOAD_RBX RDI_RBX CALL, false, false, "then another load"},
    {CALL LOAD_RBX RDI_RBX CALL, false, false, "the load of another read"},
    {LOAD_EAX RDI_RAX CALL, false, false, "half of it"},
    {LOAD_RAX TO_SLOT FROM_SLOT RDI_RAX CALL, false, true, "kept in the frame"},
    {LOAD_RAX TO_SLOT CALL FROM_SLOT RDI_RAX CALL, false, true, "over a call"},
    {LOAD_RAX TO_SLOT OTHER_SLOT RDI_RAX CALL, false, false, "another slot"},
    {LOAD_RAX TO_SLOT INTO_SLOT FROM_SLOT RDI_RAX CALL, false, false,
     "the slot has something else"},
    {LOAD_RAX TO_SLOT "c745f400000000" FROM_SLOT RDI_RAX CALL, false, false, "or may have"},
    {FROM_SLOT AT_RAX RDI_RAX CALL, false, true, "a variable by its address"},
    {FROM_SLOT AT_RAX AT_RAX RDI_RAX CALL, false, false, "what it points to"},
    {LOAD_RBX "4883c310" RDI_RBX CALL, false, true, "a number more"},
    {LOAD_RBX "4801c3" RDI_RBX CALL, false, false, "an index more"},
    {LOAD_RBX "488d3cc3" CALL, false, false, "the same by lea"},
    {LOAD_RBX "bf00000000" CALL, false, false, "a number"},
    {LOAD_RBX RDI_RBX "5f" CALL, false, false, "popped"},
    {RDI_RAX CALL, true, true, "an atomic read"},
    {"48"
     "8d7808" CALL,
     true, true, "an atomic read, at an offset"},
    {LOAD_RAX RDI_RAX CALL, true, false, "another load after it"},
    {CALL RDI_RAX CALL, true, false, "another call after it"},
    {"", true, false, "nothing"},
    {RDI_RAX, true, false, "no call"},
    {LOAD_RBX RDI_RBX "e8000000", false, false, "a part of one"},
    {LOAD_RBX RDI_RBX "c5f877" CALL, false, false, "an instruction that is not known"},
    {LOAD_RBX RDI_RBX "0f0b" CALL, false, false, "ud2"},
    {LOAD_RBX RDI_RBX "f30f1efa" CALL, false, true, "endbr64"},
    {LOAD_RBX RDI_RBX "48bb7474747474747474" CALL, false, true, "numbers are no jumps"},
    {LOAD_RBX RDI_RBX "66c70424747466c745f07474" CALL, false, true, "nor stores of them"},
    {LOAD_RBX RDI_RBX "ffd2", false, true, "a call of what a register says"},
};

static void test_known_code(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint8_t code[64];
        size_t bytes = 0;
        for (const char *at = known[i].code; *at; at += 2) {
            char byte[] = {at[0], at[1], '\0'};
            code[bytes++] = (uint8_t)strtoul(byte, NULL, 16);
        }
        if (mr_code_uses_value(code, bytes, known[i].is_returned) != known[i].uses) {
            print_error("%s: should %s\n", known[i].text, known[i].uses ? "use it" : "not use it");
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static void test_long_code(void **state)
{
    (void)state;
    static const uint8_t end[] = {0x48, 0x89, 0xc7, 0xe8, 0, 0, 0, 0};
    uint8_t code[MR_FLOW_BYTES + 1];
    for (size_t bytes = MR_FLOW_BYTES; bytes <= MR_FLOW_BYTES + 1; bytes++) {
        memset(code, 0x90, sizeof code);
        memcpy(code + bytes - sizeof end, end, sizeof end);
        assert_int_equal(mr_code_uses_value(code, bytes, true), bytes == MR_FLOW_BYTES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_code),
        cmocka_unit_test(test_long_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
