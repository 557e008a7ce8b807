#include "elimination.h"

/* rel1 → acq2. */
static void leave_first(mr_elimination *e, const mr_section *one, uint32_t acquire)
{
    if (mr_elimination_possible(e, one->release))
        mr_elimination_order(e, mr_elimination_row(e, one->release), acquire);
    else
        mr_elimination_exclude(e, acquire);
}

/* The latest section of the chain that is entered in the first `bound` rows of its slot. */
static const mr_section *latest_entered(const mr_elimination *e, const mr_row_chain *chain,
                                        uint32_t bound)
{
    uint32_t low = chain->first, high = chain->end, first_row = e->known->row_first[chain->slot];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (e->items[middle] - first_row < bound)
            low = middle + 1;
        else
            high = middle;
    }
    return low == chain->first
               ? NULL
               : mr_window_section(e->window, e->known->event_of[e->items[low - 1]]);
}

static void exclude_chain(mr_elimination *e, uint32_t row, const mr_section *own,
                          const mr_row_chain *chain)
{
    uint32_t slot = chain->slot, bound = mr_elimination_clock(e, row)[slot];
    uint32_t other = e->included[slot];
    if (slot == e->slot_of[row])
        return;
    e->steps += 8;
    if (mr_elimination_possible(e, own->release)) {
        uint32_t known = mr_elimination_clock(e, mr_elimination_row(e, own->release))[slot];
        other = known < other ? known : other;
    }
    const mr_section *section = latest_entered(e, chain, other > bound ? other : bound);
    if (section)
        leave_first(e, section, row);
}

void mr_elimination_rule_acquire(mr_elimination *e, uint32_t row)
{
    const mr_window *w = e->window;
    const mr_section *own = mr_window_section(w, e->known->event_of[row]);
    const mr_window_lock *lock = &w->locks[own->lock];
    for (uint32_t s = lock->sections_first; s < lock->carried_end; s++)
        if (mr_sections_exclude(&w->sections[s], own))
            leave_first(e, &w->sections[s], row);
    uint32_t object = w->variable_count + 2 * own->lock; /* exclusive; shared is the next one */
    uint32_t end = e->chains_first[object + (own->shared ? 1 : 2)];
    for (uint32_t c = e->chains_first[object]; c < end; c++)
        exclude_chain(e, row, own, &e->chains[c]);
}
