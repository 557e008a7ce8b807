#include "locks.h"

/* Is the section's acquire in the cone? A section held at the start is always there. */
static bool takes_part(const mr_encoding *encoding, const mr_section *section)
{
    return section->acquire == MR_NONE || mr_encoding_in_cone(encoding, section->acquire);
}

static void exclude(mr_encoding *encoding, const mr_section *one, const mr_section *two)
{
    const mr_section *order[2][2] = {{one, two}, {two, one}};
    mr_clause clause = {0};
    for (int i = 0; i < 2; i++)
        if (order[i][0]->acquire != MR_NONE)
            mr_clause_unless_included(encoding, &clause, order[i][0]->acquire);
    for (int i = 0; i < 2; i++) {
        const mr_section *earlier = order[i][0], *later = order[i][1];
        if (later->acquire != MR_NONE && earlier->release != MR_NONE &&
            mr_encoding_in_cone(encoding, earlier->release))
            mr_clause_before(encoding, &clause, earlier->release, later->acquire);
    }
    mr_clause_end(encoding, &clause);
}

void mr_encode_locks(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    for (uint32_t l = 0; l < w->lock_count; l++) {
        const mr_window_lock *lock = &w->locks[l];
        if (!lock->contended)
            continue;
        for (uint32_t i = lock->sections_first; i < lock->sections_end; i++) {
            if (!takes_part(encoding, &w->sections[i]))
                continue;
            for (uint32_t j = i + 1; j < lock->sections_end; j++) {
                if (mr_formula_stopped(&encoding->formula))
                    return;
                if (w->sections[i].thread != w->sections[j].thread &&
                    takes_part(encoding, &w->sections[j]))
                    exclude(encoding, &w->sections[i], &w->sections[j]);
            }
        }
    }
}
