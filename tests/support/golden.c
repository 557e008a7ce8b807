#include "golden.h"

#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

void mr_golden(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "tests/golden/%s.txt", name);
    if (getenv("UPDATE_GOLDEN") != NULL) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(text, file);
        fclose(file);
    }
    char *expected = mr_file_text(path);
    assert_non_null(expected);
    assert_string_equal(text, expected);
    free(expected);
}
