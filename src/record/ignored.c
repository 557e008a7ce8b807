#include "ignored.h"

enum { WORD_BYTES = 8 };
#define WHOLE_LIFE UINT64_MAX

void mr_ignored_free(mr_ignored *ignored)
{
    mr_pairs_free(&ignored->words);
    *ignored = (mr_ignored){.words = {.count = 0}};
}

bool mr_ignored_note(mr_ignored *ignored, mr_extent extent)
{
    uint64_t word = extent.address / WORD_BYTES;
    bool ok =
        mr_pairs_add(&ignored->words, (mr_pair){extent.life->number, WHOLE_LIFE}) != MR_PAIRS_NONE;
    for (; ok && word * WORD_BYTES < extent.address + extent.bytes; word++)
        ok = mr_pairs_add(&ignored->words, (mr_pair){extent.life->number, word}) != MR_PAIRS_NONE;
    return ok;
}

bool mr_ignored_has(const mr_ignored *ignored, mr_extent extent)
{
    uint64_t word = extent.address / WORD_BYTES;
    bool has = false;
    if (!mr_ignored_has_life(ignored, extent.life->number))
        return false;
    for (; !has && word * WORD_BYTES < extent.address + extent.bytes; word++)
        has = mr_pairs_find(&ignored->words, (mr_pair){extent.life->number, word}) != MR_PAIRS_NONE;
    return has;
}

bool mr_ignored_has_life(const mr_ignored *ignored, uint32_t life)
{
    return ignored->words.count &&
           mr_pairs_find(&ignored->words, (mr_pair){life, WHOLE_LIFE}) != MR_PAIRS_NONE;
}
