/* Many JSON objects are written in their order, whoever has made them, and failures come through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/json_items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which objects there are; `fails_at`: the object that has no memory. */
typedef struct objects {
    size_t count, left_out, every, fails_at;
} objects;

static mr_json make(const void *context, size_t index)
{
    const objects *all = context;
    char text[400];
    if (index < all->left_out || (all->every && index % all->every == 0))
        return (mr_json){NULL, true};
    mr_json self = mr_json_new();
    memset(text, 'a' + (char)(index % 26), sizeof text);
    text[index * 7919 % sizeof text] = '\0';
    mr_json_put_number(&self, "index", index);
    mr_json_put_text(&self, "text", text);
    self.ok = self.ok && index != all->fails_at;
    return self;
}

/* What the threads of `jobs` write of the objects. */
static char *dump(const objects *all, const char *jobs, mr_status expected)
{
    char *text = NULL;
    size_t size = 0;
    mr_error error = {0};
    FILE *stream = open_memstream(&text, &size);
    mr_config *config = mr_config_new();
    assert_true(stream && config);
    assert_int_equal(mr_config_set(config, "jobs", jobs, NULL, 0, NULL), MR_OK);
    const mr_json_items items = {.count = all->count, .make = make, .context = all};
    assert_int_equal(mr_json_items_dump(stream, &items, config, &error), expected);
    assert_int_equal(error.status, expected);
    mr_config_free(config);
    fclose(stream);
    return text;
}

/* The same, object by object. */
static char *dump_simply(const objects *all)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    const char *separator = "\n";
    assert_non_null(stream);
    for (size_t i = 0; i < all->count; i++) {
        mr_json object = make(all, i);
        if (!object.json)
            continue;
        fputs(separator, stream);
        separator = ",\n";
        assert_int_equal(mr_json_dump(stream, object, NULL), MR_OK);
    }
    fclose(stream);
    return text;
}

static void test_order(void **state)
{
    (void)state;
    static const objects cases[] = {
        {.count = 0, .fails_at = SIZE_MAX},
        {.count = 1, .fails_at = SIZE_MAX},
        {.count = 500, .left_out = 500, .fails_at = SIZE_MAX},
        {.count = 511, .every = 3, .fails_at = SIZE_MAX},
        {.count = 512, .left_out = 200, .fails_at = SIZE_MAX},
        {.count = 4000, .fails_at = SIZE_MAX},
        {.count = 4001, .left_out = 64, .every = 2, .fails_at = SIZE_MAX},
    };
    static const char *const jobs[] = {"1", "2", "5"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *expected = dump_simply(&cases[i]);
        for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) {
            char *found = dump(&cases[i], jobs[j], MR_OK);
            assert_string_equal(found, expected);
            free(found);
        }
        free(expected);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    static const objects early = {.count = 4000, .fails_at = 3},
                         late = {.count = 4000, .fails_at = 3999};
    free(dump(&early, "1", MR_ERR_MEMORY));
    free(dump(&early, "2", MR_ERR_MEMORY));
    free(dump(&late, "1", MR_ERR_MEMORY));
    free(dump(&late, "2", MR_ERR_MEMORY));
}

static void test_full_disk(void **state)
{
    (void)state;
    const objects all = {.count = 4000, .fails_at = SIZE_MAX};
    const mr_json_items items = {.count = all.count, .make = make, .context = &all};
    static const char *const jobs[] = {"1", "2"};
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) {
        mr_error error = {0};
        FILE *stream = fopen("/dev/full", "w");
        mr_config *config = mr_config_new();
        assert_true(stream && config);
        assert_int_equal(mr_config_set(config, "jobs", jobs[j], NULL, 0, NULL), MR_OK);
        assert_int_equal(mr_json_items_dump(stream, &items, config, &error), MR_ERR_IO);
        mr_config_free(config);
        fclose(stream);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order),
                                       cmocka_unit_test(test_no_memory),
                                       cmocka_unit_test(test_full_disk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
