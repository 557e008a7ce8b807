/* A file with a header: letters, and a length with the high byte first. */
#include "common.h"

int parsed;

static void *work(void *unused)
{
    if (memcmp(input, "MZ", 2) == 0 && (input[2] << 8 | input[3]) == 0x0108)
        parsed = 1; /* race 1 */
    return unused;
}

int main(int count, char **arguments)
{
    FILE *file = count > 1 ? fopen(arguments[1], "rb") : NULL;
    read_input(file);
    if (file)
        fclose(file);
    start(work);
    parsed = 2; /* race 1 */
    finish();
    return parsed > 9;
}
