/* Failed assertions, see assert.h. */
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

void mr_assert_failed(const char *kind, const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, kind, condition);
    abort();
}
