#include "program_order.h"

void mr_encode_program_order(mr_encoding *encoding)
{
    const uint32_t *first = encoding->thread_first;
    for (uint32_t t = 0; t < encoding->window->thread_count; t++)
        for (uint32_t i = first[t] + 1; i < first[t + 1]; i++)
            mr_formula_edge(&encoding->formula, encoding->by_thread[i - 1], encoding->by_thread[i]);
}
