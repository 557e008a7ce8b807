/* Interning of strings (names). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/names.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

enum { MANY = 5000 };

/* Different lengths, so that both ways of hashing are used. */
static uint32_t make_name(uint32_t i, char buffer[64])
{
    return (uint32_t)sprintf(buffer, "%.*s%u", (int)(i % 23), "abcdefghijklmnopqrstuvw", i);
}

static void add_names(mr_names *names, uint32_t first, uint32_t end)
{
    char text[64];
    uint32_t number;
    for (uint32_t i = first; i < end; i++)
        assert_true(mr_names_add(names, text, make_name(i, text), &number));
}

/* Of the names [0, end) the table has the first `count`, in their order. */
static void check_names(const mr_names *names, uint32_t count, uint32_t end)
{
    char text[64];
    uint32_t number;
    for (uint32_t i = 0; i < end; i++) {
        assert_int_equal(mr_names_find(names, text, make_name(i, text), &number), i < count);
        assert_true(i >= count || number == i);
    }
}

static void test_names(void **state)
{
    (void)state;
    mr_names names;
    char text[64];
    uint32_t number;
    mr_names_init(&names);
    assert_false(mr_names_find(&names, "x", 1, &number));
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < MANY; i++) {
            uint32_t length = make_name(i, text);
            assert_true(mr_names_add(&names, text, length, &number));
            assert_int_equal(number, i);
        }
    }
    assert_int_equal(names.count, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t length = make_name(i, text);
        assert_true(mr_names_find(&names, text, length, &number));
        assert_int_equal(number, i);
        assert_string_equal(names.items[i].text, text);
        assert_int_equal(names.items[i].length, length);
    }
    assert_false(mr_names_find(&names, "x", 1, &number));
    mr_names_free(&names);
    assert_int_equal(names.count, 0);
}

/* Names are bytes: prefixes, the empty name and single different bytes are told apart. */
static void test_similar_names(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "a",
        "b",
        "aa",
        "aaaaaaa",
        "aaaaaaaa",
        "aaaaaaaaa",
        "aaaaaaaab",
        "baaaaaaaa",
        "aaaaaaaaaaaaaaaa",
        "aaaaaaaaaaaaaaab",
        "aaaaaaaabaaaaaaa",
        "aaaaaaaaaaaaaaaaa",
    };
    mr_names names;
    uint32_t number;
    mr_names_init(&names);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            assert_true(mr_names_add(&names, texts[i], (uint32_t)strlen(texts[i]), &number));
            assert_int_equal(number, i);
        }
    }
    assert_true(mr_names_find(&names, "aab", 2, &number)); /* the length counts, not a NUL */
    assert_int_equal(number, 3);
    mr_names_free(&names);
}

/* Names whose hashes are equal differ in one byte, or in length. */
static void test_equal_hashes(void **state)
{
    (void)state;
    enum { MOST_BYTES = 40 };
    mr_names names;
    mr_names_init(&names);
    for (int round = 0; round < 2; round++) {
        uint32_t expected = 0, number;
        for (uint32_t length = 0; length <= MOST_BYTES; length++)
            for (uint32_t changed = 0; changed <= length; changed++) {
                char text[MOST_BYTES + 1];
                mr_name_key key;
                memset(text, 'a', sizeof text);
                text[changed] = 'b'; /* of changed == length, that is behind the name */
                mr_names_key(&key, text, length);
                key.hash = 1;
                assert_true(mr_names_add_key(&names, &key, &number));
                assert_int_equal(number, expected);
                assert_int_equal(mr_names_look(&names, &key), expected + 1);
                assert_int_equal(strlen(names.items[number].text), length);
                assert_memory_equal(names.items[number].text, text, length);
                expected++;
            }
        mr_name_key key = {.text = "c\0", .length = 2, .hash = 1}; /* it has the words of "c" */
        memcpy(key.words, "c", 1);
        assert_true(mr_names_add_key(&names, &key, &number));
        assert_int_equal(number, expected);
        key.length = 1;
        assert_true(mr_names_add_key(&names, &key, &number));
        assert_int_equal(number, expected + 1);
        assert_int_equal(names.count, expected + 2);
    }
    mr_names_free(&names);
}

static void test_truncate(void **state)
{
    (void)state;
    mr_names names;
    char text[64];
    uint32_t number;
    mr_names_init(&names);
    add_names(&names, 0, MANY);
    mr_names_truncate(&names, MANY);
    assert_int_equal(names.count, MANY);
    mr_names_truncate(&names, MANY / 3);
    check_names(&names, MANY / 3, MANY);
    for (uint32_t i = MANY; i-- > MANY / 3;) { /* numbers are given again, in the new order */
        assert_true(mr_names_add(&names, text, make_name(i, text), &number));
        assert_int_equal(number, MANY / 3 + (MANY - 1 - i));
    }
    mr_names_truncate(&names, 0);
    assert_false(mr_names_find(&names, text, make_name(0, text), &number));
    mr_names_free(&names);
}

/* A table with several parts, which grow at different times. Names are forgotten meanwhile, some of them
 * after their part has grown. */
static void test_many_names(void **state)
{
    (void)state;
    enum { COUNT = 600000, FORGOTTEN = 3, EVERY = 97 };
    mr_names names;
    mr_names_init(&names);
    for (uint32_t i = 0; i < COUNT; i += EVERY) {
        uint32_t end = i + EVERY < COUNT ? i + EVERY : COUNT;
        add_names(&names, i, end);
        add_names(&names, COUNT + end, COUNT + end + FORGOTTEN);
        mr_names_truncate(&names, end);
    }
    assert_true(names.part_count > 1);
    check_names(&names, COUNT, 2 * COUNT + FORGOTTEN);
    mr_names_free(&names);
}

/* After the table has grown, the slots of the youngest names lie anywhere between the others. They are
 * forgotten. */
static void test_truncate_after_growth(void **state)
{
    (void)state;
    enum { LEAST = 1 << 6, MOST = 1 << 18 };
    for (uint32_t grows_at = LEAST; grows_at <= MOST; grows_at *= 2) {
        mr_names names;
        uint32_t kept = grows_at / 4 * 3;
        mr_names_init(&names);
        add_names(&names, 0, grows_at + grows_at / 4);
        mr_names_truncate(&names, kept);
        check_names(&names, kept, grows_at * 2);
        add_names(&names, kept, grows_at);
        assert_int_equal(names.count, grows_at);
        mr_names_free(&names);
    }
}

/* A name that is added and forgotten, over and over, leaves nothing behind, and harms no other. */
static void test_truncate_gives_memory_back(void **state)
{
    (void)state;
    mr_names names;
    char text[64];
    uint32_t number;
    mr_names_init(&names);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_true(mr_names_add(&names, text, make_name(i, text), &number));
        size_t in_use_bytes = names.strings.in_use_bytes;
        for (uint32_t j = 0; j < 3; j++) {
            assert_true(mr_names_add(&names, text, make_name(MANY + i + j, text), &number));
            mr_names_truncate(&names, i + 1);
            assert_int_equal(names.strings.in_use_bytes, in_use_bytes);
        }
        if (i % 100 == 0) { /* a text for people that comes after the name must stay */
            assert_true(mr_names_add(&names, "gone", 4, &number));
            assert_true(mr_names_set_display(&names, i, "shown", 5));
            mr_names_truncate(&names, i + 1);
        }
    }
    for (uint32_t i = 0; i < MANY; i++) {
        make_name(i, text);
        assert_string_equal(names.items[i].text, text);
        assert_string_equal(mr_names_display(&names, i), i % 100 ? text : "shown");
    }
    mr_names_free(&names);
}

static void test_display(void **state)
{
    (void)state;
    mr_names names;
    uint32_t number;
    mr_names_init(&names);
    assert_true(mr_names_add(&names, "V1", 2, &number));
    assert_string_equal(mr_names_display(&names, number), "V1");
    assert_true(mr_names_set_display(&names, number, "balance!", 7));
    assert_string_equal(mr_names_display(&names, number), "balance");
    assert_string_equal(names.items[number].text, "V1");
    mr_names_free(&names);
}

static void test_names_without_memory(void **state)
{
    (void)state;
    char text[64];
    for (uint64_t n = 1; n < 8; n++) {
        mr_names names;
        uint32_t number, added = 0;
        mr_names_init(&names);
        mr_memory_fail_after(n);
        while (mr_names_add(&names, text, make_name(added, text), &number))
            added++;
        mr_memory_fail_after(0);
        for (uint32_t i = 0; i < MANY; i++) { /* nothing is lost, and it goes on */
            assert_true(mr_names_add(&names, text, make_name(i, text), &number));
            assert_int_equal(number, i);
        }
        mr_names_free(&names);
    }
}

/* Puts the names [names->count, end) as a reader of numbered names does. */
static void put_names(mr_names *names, uint32_t end)
{
    void *items = names->items;
    assert_true(mr_grow(&items, &names->capacity, end, sizeof *names->items));
    names->items = items;
    for (uint32_t i = names->count; i < end; i++) {
        char *text = mr_arena_zalloc(&names->strings, 64 + MR_NAME_SHORT_BYTES, 1);
        assert_non_null(text);
        names->items[i] = (mr_name){.text = text, .length = make_name(i, text)};
    }
    names->count = end;
}

static void check_taken(const mr_names *names, uint32_t count)
{
    check_names(names, count, count + 50);
}

static void test_taken_names(void **state)
{
    (void)state;
    static const uint32_t ends[] = {0, 1, 31, 32, 33, 64, 65, 1000, 1000, MANY};
    mr_names names;
    uint32_t twice;
    mr_names_init(&names);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        uint32_t first = names.count;
        put_names(&names, ends[i]);
        assert_true(mr_names_take(&names, first, &twice));
        assert_int_equal(twice, names.count);
        check_taken(&names, ends[i]);
    }
    /* One that was there, between two new ones. */
    put_names(&names, MANY + 3);
    names.items[MANY + 1] = names.items[7];
    assert_true(mr_names_take(&names, MANY, &twice));
    assert_int_equal(twice, MANY + 1);
    names.count = twice;
    check_taken(&names, MANY + 1);
    /* Without memory nothing is lost. */
    names.count = MANY + 1;
    put_names(&names, 2 * MANY);
    mr_memory_fail_after(1);
    assert_false(mr_names_take(&names, MANY + 1, &twice));
    mr_memory_fail_after(0);
    names.count = MANY + 1;
    check_taken(&names, MANY + 1);
    mr_names_free(&names);
}

/* A hash without a key, as maxrace had one: whoever knew it could choose names that collide. */
static uint32_t unkeyed(const uint64_t words[MR_NAME_WORDS])
{
    uint64_t hash = words[0] * 0x9E3779B97F4A7C15u + words[1] * 0xC2B2AE3D27D4EB4Fu +
                    words[2] * 0x165667B19E3779F9u;
    hash ^= hash >> 32;
    return (uint32_t)((hash * 0x9E3779B97F4A7C15u) >> 32);
}

/* Names that were chosen to fall into one slot fall into many: the seed is not known. */
static void test_chosen_names(void **state)
{
    (void)state;
    enum { SLOTS = 1 << 10, CHOSEN = 2000 };
    static bool hit[SLOTS];
    uint32_t slots = 0;
    for (uint32_t i = 0, found = 0; found < CHOSEN; i++) {
        char text[MR_NAME_SHORT_BYTES + 1] = {0};
        uint64_t words[MR_NAME_WORDS];
        uint32_t length = (uint32_t)snprintf(text, sizeof text, "name%u", i);
        mr_names_words(text, length, words);
        if (unkeyed(words) % SLOTS != 5)
            continue;
        found++;
        uint32_t slot = mr_names_hash(words) % SLOTS;
        slots += !hit[slot];
        hit[slot] = true;
    }
    assert_true(slots > SLOTS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_similar_names),
        cmocka_unit_test(test_equal_hashes),
        cmocka_unit_test(test_truncate),
        cmocka_unit_test(test_many_names),
        cmocka_unit_test(test_truncate_after_growth),
        cmocka_unit_test(test_truncate_gives_memory_back),
        cmocka_unit_test(test_display),
        cmocka_unit_test(test_names_without_memory),
        cmocka_unit_test(test_taken_names),
        cmocka_unit_test(test_chosen_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
