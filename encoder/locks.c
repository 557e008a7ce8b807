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

/* Is it certain that `later` is entered after `earlier` is left? */
static bool forced(const mr_encoding *encoding, const mr_section *earlier, const mr_section *later)
{
    return earlier->release != MR_NONE && later->acquire != MR_NONE &&
           mr_precedes(encoding->forced, earlier->release, later->acquire);
}

/* Precedence knows this from the lock itself, so the formula has to say it: nothing else may. */
static void state(mr_encoding *encoding, const mr_section *earlier, const mr_section *later)
{
    if (mr_precedes(encoding->hard, earlier->release, later->acquire))
        return;
    mr_clause clause = {0};
    mr_clause_unless_included(encoding, &clause, later->acquire);
    clause.literals[clause.count++] = mr_before(mr_encoding_node(encoding, earlier->release),
                                                mr_encoding_node(encoding, later->acquire));
    mr_clause_end(encoding, &clause);
}

/* All pairs of section j with earlier ones; `stated` (one a thread) remembers the j for which a
 * thread's latest forced section was stated: the ones before it follow by program order. */
static void exclude_earlier(mr_encoding *encoding, const mr_window_lock *lock, uint32_t j,
                            uint32_t *stated)
{
    const mr_section *sections = encoding->window->sections;
    for (uint32_t i = j; i-- > lock->sections_first;) {
        if (mr_formula_stopped(&encoding->formula))
            return;
        if (sections[i].thread == sections[j].thread || !takes_part(encoding, &sections[i]))
            continue;
        if (!forced(encoding, &sections[i], &sections[j])) {
            exclude(encoding, &sections[i], &sections[j]);
        } else if (stated[sections[i].thread] != j) {
            stated[sections[i].thread] = j;
            state(encoding, &sections[i], &sections[j]);
        }
    }
}

void mr_encode_locks(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    uint32_t *stated = encoding->choices;
    for (uint32_t t = 0; t < w->thread_count; t++)
        stated[t] = MR_NONE;
    for (uint32_t l = 0; l < w->lock_count; l++) {
        const mr_window_lock *lock = &w->locks[l];
        if (!lock->contended)
            continue;
        for (uint32_t j = lock->sections_first; j < lock->sections_end; j++)
            if (takes_part(encoding, &w->sections[j]))
                exclude_earlier(encoding, lock, j, stated);
    }
}
