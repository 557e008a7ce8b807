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

/* The threads whose sections of a lock take part. */
typedef struct participants {
    uint32_t *seen; /* one a thread: the lock for which it was counted */
    /* one a thread: the section j for which its latest forced section was stated */
    uint32_t *stated;
    uint32_t count;
} participants;

static void count_participants(const mr_encoding *encoding, uint32_t lock_number,
                               participants *threads)
{
    const mr_window *w = encoding->window;
    const mr_window_lock *lock = &w->locks[lock_number];
    threads->count = 0;
    for (uint32_t i = lock->sections_first; i < lock->sections_end; i++) {
        uint32_t thread = w->sections[i].thread;
        if (takes_part(encoding, &w->sections[i]) && threads->seen[thread] != lock_number) {
            threads->seen[thread] = lock_number;
            threads->count++;
        }
    }
}

/*
 * All pairs of section j with earlier ones, from the latest to the first. The latest section of a
 * thread that is forced before j is stated; the ones before it follow by program order, so the walk
 * ends when all other threads have one.
 */
static void exclude_earlier(mr_encoding *encoding, const mr_window_lock *lock, uint32_t j,
                            participants *threads)
{
    const mr_section *sections = encoding->window->sections;
    uint32_t open_threads = threads->count - 1;
    for (uint32_t i = j; open_threads && i-- > lock->sections_first;) {
        uint32_t thread = sections[i].thread;
        if (mr_formula_stopped(&encoding->formula))
            return;
        if (thread == sections[j].thread || threads->stated[thread] == j ||
            !takes_part(encoding, &sections[i]))
            continue;
        if (forced(encoding, &sections[i], &sections[j])) {
            threads->stated[thread] = j;
            open_threads--;
            state(encoding, &sections[i], &sections[j]);
        } else {
            exclude(encoding, &sections[i], &sections[j]);
        }
    }
}

void mr_encode_locks(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    participants threads = {.seen = encoding->choices,
                            .stated = encoding->choices + w->thread_count};
    for (uint32_t t = 0; t < w->thread_count; t++)
        threads.seen[t] = threads.stated[t] = MR_NONE;
    for (uint32_t l = 0; l < w->lock_count; l++) {
        const mr_window_lock *lock = &w->locks[l];
        if (!lock->contended)
            continue;
        count_participants(encoding, l, &threads);
        for (uint32_t j = lock->sections_first; j < lock->sections_end; j++)
            if (takes_part(encoding, &w->sections[j]))
                exclude_earlier(encoding, lock, j, &threads);
    }
}
