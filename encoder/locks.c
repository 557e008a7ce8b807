#include "locks.h"

#include "base/assert.h"

bool mr_section_takes_part(const mr_encoding *encoding, const mr_section *section)
{
    if (section->acquire == MR_NONE)
        return !mr_encoding_has_region(encoding);
    return mr_encoding_in_cone(encoding, section->acquire) &&
           mr_encoding_in_region(encoding, section->acquire);
}

/* Two sections that exclude each other, `one` first in the trace. */
static void exclude(mr_encoding *encoding, const mr_section *one, const mr_section *two)
{
    const mr_section *order[2][2] = {{one, two}, {two, one}};
    mr_clause clause = {0};
    MR_ASSERT(one->lock == two->lock && mr_sections_exclude(one, two));
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

/* Is it certain that `later` is entered after `earlier` is left? Plain: nothing is. */
static bool forced(const mr_encoding *encoding, const mr_section *earlier, const mr_section *later)
{
    return !encoding->options.plain && earlier->release != MR_NONE && later->acquire != MR_NONE &&
           mr_precedes(encoding->forced, earlier->release, later->acquire);
}

/* Precedence knows this from the lock itself, so the formula has to say it: nothing else may. */
static void state(mr_encoding *encoding, const mr_section *earlier, const mr_section *later)
{
    if (mr_precedes(encoding->hard, earlier->release, later->acquire))
        return;
    mr_clause clause = {0};
    mr_clause_unless_included(encoding, &clause, later->acquire);
    if (mr_encoding_in_cone(encoding, earlier->release)) /* else it needs a or b */
        clause.literals[clause.count++] = mr_before(mr_encoding_node(encoding, earlier->release),
                                                    mr_encoding_node(encoding, later->acquire));
    mr_clause_end(encoding, &clause);
}

void mr_encode_exclusion(mr_encoding *encoding, uint32_t one, uint32_t other)
{
    MR_REQUIRE(one != other);
    const mr_section *first = &encoding->window->sections[one < other ? one : other];
    const mr_section *second = &encoding->window->sections[one < other ? other : one];
    if (forced(encoding, first, second))
        state(encoding, first, second);
    else
        exclude(encoding, first, second);
}

/* The chains of a lock that take part: its sections of one thread and kind, which do not overlap.
 */
typedef struct chains {
    uint32_t *seen;   /* one a chain: the lock for which it was counted */
    uint32_t *stated; /* one a chain: the section j for which its latest forced one was stated */
    uint32_t exclusive, shared; /* how many */
} chains;

static uint32_t chain_of(uint32_t thread, bool shared)
{
    return 2 * thread + shared;
}

static void count_chains(const mr_encoding *encoding, uint32_t lock_number, chains *all)
{
    const mr_window *w = encoding->window;
    const mr_window_lock *lock = &w->locks[lock_number];
    all->exclusive = all->shared = 0;
    for (uint32_t i = lock->sections_first; i < lock->sections_end; i++) {
        const mr_section *section = &w->sections[i];
        uint32_t *seen = &all->seen[chain_of(section->thread, section->shared)];
        if (!mr_section_takes_part(encoding, section) || *seen == lock_number)
            continue;
        *seen = lock_number;
        all->shared += section->shared;
        all->exclusive += !section->shared;
    }
}

/* How many chains of the lock exclude the section. */
static uint32_t count_excluding(const chains *all, uint32_t lock, const mr_section *section)
{
    uint32_t count = all->exclusive - (all->seen[chain_of(section->thread, false)] == lock);
    if (!section->shared)
        count += all->shared - (all->seen[chain_of(section->thread, true)] == lock);
    return count;
}

/*
 * All pairs of section j with earlier ones that exclude it, from the latest to the first. The
 * latest section of a chain that is forced before j is stated; the ones before it follow by program
 * order, so the walk ends when all chains have one.
 */
static void exclude_earlier(mr_encoding *encoding, uint32_t lock, uint32_t j, chains *all)
{
    const mr_section *sections = encoding->window->sections;
    uint32_t first = encoding->window->locks[lock].sections_first;
    uint32_t open = count_excluding(all, lock, &sections[j]);
    for (uint32_t i = j; open && i-- > first;) {
        uint32_t chain = chain_of(sections[i].thread, sections[i].shared);
        if (mr_formula_stopped(&encoding->formula))
            return;
        if (!mr_sections_exclude(&sections[i], &sections[j]) || all->stated[chain] == j ||
            !mr_section_takes_part(encoding, &sections[i]))
            continue;
        if (forced(encoding, &sections[i], &sections[j])) {
            all->stated[chain] = j;
            open--;
            state(encoding, &sections[i], &sections[j]);
        } else {
            exclude(encoding, &sections[i], &sections[j]);
        }
    }
}

void mr_encode_locks(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    chains all = {.seen = encoding->chains,
                  .stated = encoding->chains + 2 * (size_t)w->thread_count};
    for (uint32_t c = 0; c < 2 * w->thread_count; c++)
        all.seen[c] = all.stated[c] = MR_NONE;
    for (uint32_t l = 0; l < w->lock_count; l++) {
        const mr_window_lock *lock = &w->locks[l];
        if (!lock->contended)
            continue;
        count_chains(encoding, l, &all);
        for (uint32_t j = lock->sections_first; j < lock->sections_end; j++)
            if (mr_section_takes_part(encoding, &w->sections[j]))
                exclude_earlier(encoding, l, j, &all);
    }
}
