#include "witness.h"

#include <stdlib.h>

void mr_witness_free(mr_witness *witness)
{
    free(witness->events);
    free(witness->packed);
    witness->events = NULL;
    witness->packed = NULL;
    witness->packed_bytes = 0;
    witness->event_count = 0;
}
