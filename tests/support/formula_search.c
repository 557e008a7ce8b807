#include "formula_search.h"

typedef struct search {
    const mr_formula *formula;
    int64_t *order;                   /* position, or -1: not placed */
    uint32_t before[MR_SEARCH_NODES]; /* nodes with an edge to the node, as bits */
} search;

bool mr_formula_searchable(const mr_formula *formula)
{
    return formula->node_count <= MR_SEARCH_NODES && formula->choice_count <= MR_SEARCH_CHOICES;
}

static bool some_choices_hold(const search *s)
{
    bool choices[MR_SEARCH_CHOICES];
    for (uint32_t all = 0; all < UINT32_C(1) << s->formula->choice_count; all++) {
        for (uint32_t c = 0; c < s->formula->choice_count; c++)
            choices[c] = all >> c & 1;
        if (mr_formula_holds(s->formula, s->order, choices))
            return true;
    }
    return false;
}

static bool place(search *s, uint32_t placed, int64_t position)
{
    if (position == s->formula->node_count)
        return some_choices_hold(s);
    for (uint32_t node = 0; node < s->formula->node_count; node++) {
        if (placed >> node & 1 || (s->before[node] & ~placed))
            continue;
        s->order[node] = position;
        if (place(s, placed | UINT32_C(1) << node, position + 1))
            return true;
    }
    return false;
}

bool mr_formula_search(const mr_formula *formula, int64_t order[MR_SEARCH_NODES])
{
    search s = {.formula = formula, .order = order};
    if (formula->contradiction)
        return false;
    for (size_t i = 0; i < formula->edge_count; i++)
        s.before[formula->edges[i].v] |= UINT32_C(1) << formula->edges[i].u;
    return place(&s, 0, 0);
}
