/* Is code straight (symbols/straight.h)? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symbols/straight.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct known {
    const char *code; /* in hexadecimal */
    bool is_straight;
    const char *text;
} known;

static const known x86[] = {
    {"", true, "nothing"},
    {"90", true, "nop"},
    {"488b05f32f0000", true, "mov 0x2ff3(%rip),%rax"},
    {"488b05f32f00", false, "a part of it"},
    {"8b4008", true, "mov 0x8(%rax),%eax"},
    {"8b8408ff000000", true, "mov 0xff(%rax,%rcx),%eax"},
    {"8b042578563412", true, "mov 0x12345678,%eax"},
    {"e800000000", true, "call"},
    {"ffd0", true, "call *%rax"},
    {"ffe0", false, "jmp *%rax"},
    {"4885c0", true, "test %rax,%rax"},
    {"7402", false, "je"},
    {"0f8400000000", false, "je, far"},
    {"eb02", false, "jmp"},
    {"e900000000", false, "jmp, far"},
    {"c3", false, "ret"},
    {"488d7d74", true, "lea 0x74(%rbp),%rdi: a displacement is no jump"},
    {"be74000000", true, "mov $0x74,%esi: nor a number"},
    {"48bb7474747474747474", true, "movabs"},
    {"66c7007474", true, "movw $0x7474,(%rax)"},
    {"f6400174", true, "testb $0x74,0x1(%rax)"},
    {"f75001", true, "notl 0x1(%rax)"},
    {"0fb6c0", true, "movzbl %al,%eax"},
    {"480f44c1", true, "cmove %rcx,%rax"},
    {"f30f1efa", true, "endbr64"},
    {"660f6f05f32f0000", true, "movdqa"},
    {"f20f1145f8", true, "movsd %xmm0,-0x8(%rbp)"},
    {"660f73d808", true, "psrldq $0x8,%xmm0"},
    {"c5f877", false, "vzeroupper: not known"},
    {"0f0b", false, "ud2"},
    {"06", false, "no instruction"},
    {"488b05f32f00004885c07405e800000000", false, "a load, a test, a jump, a call"},
    {"488b05f32f0000488d7808e800000000", true, "a load, an address, a call"},
};

static const known arm[] = {
    {"1f2003d5", true, "nop"},        {"000040f9", true, "ldr x0, [x0]"},
    {"00000094", true, "bl"},         {"00003fd6", true, "blr x0"},
    {"400000b4", false, "cbz x0"},    {"40000054", false, "b.eq"},
    {"40000036", false, "tbz w0, 0"}, {"00000014", false, "b"},
    {"c0035fd6", false, "ret"},       {"00001fd6", false, "br x0"},
    {"1f2003", false, "a part"},      {"000040f9400000b4", false, "ldr, cbz"},
};

static int check(const known *table, size_t count, bool is_aarch64)
{
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t code[64];
        size_t bytes = 0;
        for (const char *at = table[i].code; *at; at += 2) {
            char byte[] = {at[0], at[1], '\0'};
            code[bytes++] = (uint8_t)strtoul(byte, NULL, 16);
        }
        if (mr_code_is_straight(code, bytes, is_aarch64) != table[i].is_straight) {
            print_error("%s: should be %s\n", table[i].text,
                        table[i].is_straight ? "straight" : "not straight");
            wrong++;
        }
    }
    return wrong;
}

static void test_known_code(void **state)
{
    (void)state;
    assert_int_equal(check(x86, sizeof x86 / sizeof *x86, false), 0);
    assert_int_equal(check(arm, sizeof arm / sizeof *arm, true), 0);
}

static void test_long_code(void **state)
{
    (void)state;
    uint8_t code[MR_STRAIGHT_BYTES + 1];
    for (size_t i = 0; i < sizeof code; i++)
        code[i] = 0x90;
    assert_true(mr_code_is_straight(code, MR_STRAIGHT_BYTES, false));
    assert_false(mr_code_is_straight(code, MR_STRAIGHT_BYTES + 1, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_code),
        cmocka_unit_test(test_long_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
