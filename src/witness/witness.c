#include "witness.h"

#include <stdlib.h>

const char *mr_witness_kind_name(mr_witness_kind kind)
{
    static const char *const names[] = {"race", "memory-order", "use-after-free", "deadlock",
                                        "null", "dangling",     "double-free",    "sees"};
    return names[kind];
}

void mr_witness_free(mr_witness *witness)
{
    free(witness->events);
    free(witness->packed);
    free(witness->waits);
    witness->waits = NULL;
    witness->wait_count = 0;
    witness->events = NULL;
    witness->packed = NULL;
    witness->packed_bytes = 0;
    witness->event_count = 0;
}
