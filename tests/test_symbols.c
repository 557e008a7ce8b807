/* Names of code and data, asked of this very program: it is built with -g. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/own_module.h"
#include "symbols/code.h"
#include "symbols/die.h"
#include "symbols/symbols.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct mr_test_inner {
    char tag;
    int len;
    short few[3];
} mr_test_inner;

typedef const bool mr_test_flag;

/* Global, so that the compiler keeps them as they are. */
extern struct mr_test_outer {
    mr_test_inner table[4];
    union {
        int number;
        long long wide;
    } either;
    int grid[2][3];
    enum mr_test_state { MR_TEST_IDLE, MR_TEST_BUSY = 7, MR_TEST_LOST = -2 } state;
    const volatile mr_test_flag *flags[2];
    unsigned low : 3, high : 5;
    struct {
        double ratio;
    } only;
    struct {
        unsigned alone : 9;
    } bits;
    float size;
    uint16_t port;
    int8_t few;
    mr_test_flag open;
    long double wide;
} mr_test_outer;
struct mr_test_outer mr_test_outer;
extern volatile int mr_test_plain;
volatile int mr_test_plain;

extern int *mr_test_static(void);
int *mr_test_static(void)
{
    static int count;
    count++;
    return &count;
}

static __attribute__((always_inline)) inline void *here(void)
{
    mr_test_plain++;
    void *address;
    __asm__ volatile("lea 0(%%rip), %0" : "=r"(address));
    return address;
}

extern void *mr_test_code(void);
__attribute__((noinline)) void *mr_test_code(void)
{
    void *address = here();
    mr_test_plain++;
    return address;
}

static mr_symbols *map_self(const uint8_t *id, size_t id_bytes)
{
    mr_own_module self = mr_own_module_find();
    mr_symbols *symbols = mr_symbols_new(NULL);
    assert_non_null(symbols);
    assert_true(
        mr_symbols_map(symbols, "/proc/self/exe", self.bias, self.start, self.end, id, id_bytes));
    return symbols;
}

static void check_data(mr_symbols *symbols, const volatile void *address, uint64_t bytes,
                       const char *expected)
{
    char name[256];
    assert_true(
        mr_symbols_data(symbols, (uint64_t)(uintptr_t)address, bytes, name, sizeof name, NULL));
    assert_string_equal(name, expected);
}

static void test_data(void **state)
{
    (void)state;
    mr_symbols *symbols = map_self(NULL, 0);
    check_data(symbols, &mr_test_plain, 4, "mr_test_plain");
    check_data(symbols, (const volatile char *)&mr_test_plain + 2, 1, "mr_test_plain+2");
    check_data(symbols, &mr_test_outer, sizeof mr_test_outer, "mr_test_outer");
    check_data(symbols, &mr_test_outer.table[3].len, 4, "mr_test_outer.table[3].len");
    check_data(symbols, &mr_test_outer.table[2].few[1], 2, "mr_test_outer.table[2].few[1]");
    check_data(symbols, &mr_test_outer.table[1], sizeof(mr_test_inner), "mr_test_outer.table[1]");
    check_data(symbols, &mr_test_outer.table[1], 1, "mr_test_outer.table[1].tag");
    check_data(symbols, &mr_test_outer.grid[1][2], 4, "mr_test_outer.grid[1][2]");
    check_data(symbols, &mr_test_outer.either.wide, 8, "mr_test_outer.either");
    check_data(symbols, &mr_test_outer.either.number, 4, "mr_test_outer.either.number");
    check_data(symbols, (const char *)&mr_test_outer.either + 4, 4, "mr_test_outer.either.wide+4");
    check_data(symbols, mr_test_static(), 4, "mr_test_static.count");
    mr_symbols_free(symbols);
}

static void check_type(mr_symbols *symbols, const volatile void *address, uint64_t bytes,
                       const char *expected)
{
    char name[256];
    const char *type = "untouched";
    assert_true(
        mr_symbols_data(symbols, (uint64_t)(uintptr_t)address, bytes, name, sizeof name, &type));
    if (type ? !expected || strcmp(type, expected) != 0 : expected != NULL)
        fail_msg("%s is %s, not %s", name, type ? type : "without type",
                 expected ? expected : "without type");
}

static void test_types(void **state)
{
    (void)state;
    struct mr_test_outer *outer = &mr_test_outer;
    outer->bits.alone = 1;
    mr_symbols *symbols = map_self(NULL, 0);
    for (int again = 0; again < 2; again++) {
        check_type(symbols, &mr_test_plain, 4, "int32");
        check_type(symbols, mr_test_static(), 4, "int32");
        check_type(symbols, &outer->table[1], 1, "char");
        check_type(symbols, &outer->table[3].len, 4, "int32");
        check_type(symbols, &outer->table[2].few[1], 2, "int16");
        check_type(symbols, &outer->grid[1][2], 4, "int32");
        check_type(symbols, &outer->state, 4,
                   "enum32 MR_TEST_IDLE=0 MR_TEST_BUSY=7 MR_TEST_LOST=-2");
        check_type(symbols, &outer->flags[1], 8, "pointer");
        check_type(symbols, &outer->only.ratio, sizeof outer->only, "double");
        check_type(symbols, &outer->size, 4, "float");
        check_type(symbols, &outer->port, 2, "uint16");
        check_type(symbols, &outer->few, 1, "int8");
        check_type(symbols, &outer->open, 1, "bool");
        check_type(symbols, &outer->wide, sizeof outer->wide, NULL);
        check_type(symbols, outer, sizeof *outer, NULL);
        check_type(symbols, &outer->table[1], sizeof outer->table[1], NULL);
        check_type(symbols, &outer->table[3].len, 2, NULL);
        check_type(symbols, (const char *)&outer->table[3].len + 2, 2, NULL);
        check_type(symbols, &outer->grid[0][0], 8, NULL);
        check_type(symbols, &outer->either.wide, 8, NULL);
        check_type(symbols, &outer->either.number, 4, NULL);
        check_type(symbols, &outer->flags[1] + 1, 4, NULL);
        check_type(symbols, &outer->bits, 4, NULL);
    }
    mr_symbols_free(symbols);
}

static void test_code(void **state)
{
    (void)state;
    mr_symbols *symbols = map_self(NULL, 0);
    /* Like a return address: it is behind the instruction. */
    uint64_t address = (uint64_t)(uintptr_t)mr_test_code() - 1;
    const mr_code *code = mr_symbols_code(symbols, address);
    assert_non_null(code);
    assert_true(code->has_lines);
    assert_int_equal(code->frame_count, 2);
    assert_string_equal(code->frames[0].function, "here");
    assert_true(code->frames[0].inlined);
    assert_string_equal(code->frames[1].function, "mr_test_code");
    assert_false(code->frames[1].inlined);
    assert_true(code->frames[0].is_own);
    assert_memory_equal(code->frames[1].place, "tests/test_symbols.c:", 21);
    assert_ptr_equal(mr_symbols_code(symbols, address), code);
    mr_symbols_free(symbols);
}

/* The functions at the address as libdw finds them, by a walk through the whole unit: the names, the innermost first. */
static void slow_functions(Dwarf_Die *unit, uint64_t address, char *text, size_t text_bytes)
{
    Dwarf_Die *around = NULL, *scopes = NULL;
    int count = dwarf_getscopes(unit, address, &around);
    if (count > 0)
        count = dwarf_getscopes_die(&around[0], &scopes);
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        int tag = dwarf_tag(&scopes[i]);
        size_t used = strlen(text);
        if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram)
            snprintf(text + used, text_bytes - used, "%s\n", dwarf_diename(&scopes[i]));
        if (tag == DW_TAG_subprogram)
            break;
    }
    free(around);
    free(scopes);
}

static void fast_functions(mr_code_table *table, const mr_elf *elf, uint64_t address,
                           mr_arena *texts, char *text, size_t text_bytes)
{
    mr_code_frame frames[MR_CODE_FRAMES];
    int count = mr_code_frames(table, elf, address, texts, frames);
    assert_true(count >= 0);
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        size_t used = strlen(text);
        if (frames[i].function[0])
            snprintf(text + used, text_bytes - used, "%s\n", frames[i].function);
    }
}

/* The functions around addresses of this program, of which the compiler has inlined many. */
static void test_functions(void **state)
{
    (void)state;
    mr_elf elf;
    mr_code_table table = {.range_count = 0};
    mr_arena texts;
    size_t several = 0, asked = 0;
    mr_arena_init(&texts);
    assert_true(mr_elf_open(&elf, "/proc/self/exe", NULL, 0));
    assert_true(mr_code_table_init(&table, &elf));
    for (size_t i = 0; i < elf.symbol_count; i++) {
        const mr_elf_symbol *symbol = &elf.symbols[i];
        uint64_t step = symbol->size_bytes / 8 + 1;
        for (uint64_t at = 0; symbol->is_code && at < symbol->size_bytes; at += step) {
            char slow[4096], fast[4096];
            Dwarf_Die unit;
            if (!mr_code_unit(&table, &elf, symbol->address + at, &unit))
                continue;
            slow_functions(&unit, symbol->address + at, slow, sizeof slow);
            fast_functions(&table, &elf, symbol->address + at, &texts, fast, sizeof fast);
            assert_string_equal(fast, slow);
            several += slow[0] && strchr(slow, '\n')[1];
            asked++;
        }
    }
    assert_true(asked > 500 && several > 50);
    mr_code_table_free(&table);
    mr_arena_free(&texts);
    mr_elf_close(&elf);
}

/* Another file than the one that was recorded, none, or nothing at all: offsets and addresses. */
static void test_unknown(void **state)
{
    (void)state;
    static const uint8_t id[20] = {1, 2, 3};
    char name[64];
    mr_symbols *symbols = map_self(id, sizeof id);
    const mr_code *code = mr_symbols_code(symbols, (uint64_t)(uintptr_t)mr_test_code());
    assert_non_null(code);
    assert_false(code->has_lines);
    assert_int_equal(code->frame_count, 1);
    assert_string_equal(code->frames[0].function, "");
    assert_memory_equal(code->frames[0].place, "exe+0x", 6);
    assert_true(mr_symbols_map(symbols, "/nowhere/lib.so", 0x100, 0x100, 0x900, NULL, 0));
    assert_string_equal(mr_symbols_code(symbols, 0x123)->frames[0].place, "lib.so+0x23");
    assert_true(mr_symbols_data(symbols, 0x200, 4, name, sizeof name, NULL));
    assert_string_equal(name, "lib.so+0x100");
    mr_symbols_unmap(symbols, 0x100);
    assert_string_equal(mr_symbols_code(symbols, 0x123)->frames[0].place, "0x123");
    assert_false(mr_symbols_data(symbols, 0x200, 4, name, sizeof name, NULL));
    mr_symbols_free(symbols);
}

/* A library with a symbol table and no debug information. */
static void test_library(void **state)
{
    (void)state;
    mr_symbols *symbols = mr_symbols_new(NULL);
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512], path[256] = "";
    unsigned long long start = 0, end, first = 0, last = 0;
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps))
        if (strstr(line, "/libc.so.6") && sscanf(line, "%llx-%llx", &start, &end) == 2) {
            first = first ? first : start;
            last = end;
            assert_int_equal(sscanf(strchr(line, '/'), "%255s", path), 1);
        }
    fclose(maps);
    if (!first) /* another C library, or it is linked in */
        skip();
    assert_true(mr_symbols_map(symbols, path, first, first, last, NULL, 0));
    const mr_code *code = mr_symbols_code(symbols, (uint64_t)(uintptr_t)&fopen + 1);
    assert_non_null(code);
    if ((uint64_t)(uintptr_t)&fopen >= first && (uint64_t)(uintptr_t)&fopen < last &&
        !code->has_lines)
        assert_non_null(strstr(code->frames[0].function, "fopen"));
    assert_string_equal(code->module_name[0] ? code->module_name : "libc.so.6", "libc.so.6");
    mr_symbols_free(symbols);
}

/* Where a function is, as the recorded program tells it. */
static __attribute__((noinline)) mr_frame_place place_here(void)
{
    const uintptr_t *below = __builtin_frame_address(0);
    mr_frame_place place = {(uint64_t)(uintptr_t)__builtin_return_address(0),
                            (uint64_t)(uintptr_t)__builtin_dwarf_cfa(), below[0]};
    __asm__ volatile("");
    return place;
}

/* The address; what is there stays in memory. */
static __attribute__((noinline)) uint64_t use(void *address)
{
    __asm__ volatile("" : : "r"(address) : "memory");
    return (uint64_t)(uintptr_t)address;
}

typedef struct local_places {
    mr_frame_place frame;
    uint64_t in_block, end; /* end: of the frame */
    uint64_t table, outer, inner;
} local_places;

/* No redzones, which would lie between its variables. */
static __attribute__((noinline, no_sanitize("address"))) void note_locals(local_places *places)
{
    int table[5] = {0};
    mr_test_inner outer = {0};
    places->frame = place_here();
    places->end = (uint64_t)(uintptr_t)__builtin_dwarf_cfa();
    places->table = use(table);
    {
        long inner = 1;
        places->inner = use(&inner);
        places->in_block = place_here().code;
        use(&inner);
    }
    places->outer = use(&outer);
    use(places);
}

static void check_local(mr_symbols *symbols, const local_places *places, uint64_t at,
                        uint64_t address, uint64_t bytes, const char *expected)
{
    char name[256];
    const char *type;
    bool found =
        mr_symbols_local(symbols, &places->frame, at, address, bytes, name, sizeof name, &type);
    assert_string_equal(found ? name : "none", expected);
}

static void test_local(void **state)
{
    (void)state;
    uint64_t end;
    local_places it;
    mr_symbols *symbols = map_self(NULL, 0);
    note_locals(&it);
    assert_true(mr_symbols_frame_end(symbols, &it.frame, &end));
    assert_int_equal(end, it.end);
    uint64_t at = it.frame.code;
    check_local(symbols, &it, at, it.table + 12, 4, "note_locals.table[3]");
    check_local(symbols, &it, at, it.table, 20, "note_locals.table");
    check_local(symbols, &it, at, it.outer + offsetof(mr_test_inner, few[1]), 2,
                "note_locals.outer.few[1]");
    check_local(symbols, &it, it.in_block, it.inner, 8, "note_locals.inner");
    check_local(symbols, &it, it.in_block, it.table + 4, 4, "note_locals.table[1]");
    /* Where the function is not in the block, it is not the block's variable for certain; nor is
     * it one for what is larger, or lies in no variable. */
    check_local(symbols, &it, 0, it.inner, 8, "none");
    check_local(symbols, &it, (uint64_t)(uintptr_t)&use + 1, it.inner, 8, "none");
    check_local(symbols, &it, at, it.table, 24, "none");
    check_local(symbols, &it, at, it.end - 8, 8, "none");
    /* Another file than the one that was recorded. */
    static const uint8_t id[20] = {1, 2, 3};
    mr_symbols_free(symbols);
    symbols = map_self(id, sizeof id);
    assert_false(mr_symbols_frame_end(symbols, &it.frame, &end));
    check_local(symbols, &it, at, it.table, 4, "none");
    mr_symbols_free(symbols);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data),      cmocka_unit_test(test_types),
        cmocka_unit_test(test_code),      cmocka_unit_test(test_local),
        cmocka_unit_test(test_functions), cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
