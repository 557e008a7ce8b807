/* Observed in one thread: a read after the free, and a second free. Predicted from every order. */
#include <stdlib.h>

static int *volatile keep;

int main(void)
{
    keep = malloc(4 * sizeof *keep);
    if (keep == NULL) {
        return 1;
    }
    keep[1] = 5;
    free(keep);
    int value = keep[1];
    free(keep);
    return value - 5;
}
