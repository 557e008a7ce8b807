#include "lazy.h"

#include "base/assert.h"
#include "encoder/lazy.h"
#include "placement.h"

#include <stdlib.h>
#include <string.h>

/* One formula on its way. */
typedef struct loop {
    mr_encoding *encoding;
    mr_query *query;
    const mr_lazy_budget *budget;
    mr_placement placement;
    int64_t *order;
    uint8_t *choices; /* owned, as the following */
    uint32_t *assumed, *reads;
    bool *in_core;
    size_t choice_capacity, assumed_capacity, read_capacity, core_capacity;
} loop;

/* What a round comes to. */
typedef enum progress {
    GOES_ON,
    SAT,
    UNSAT,
    UNKNOWN,
    NO_MEMORY,
} progress;

/* Makes room for what the formula has become. */
static bool make_room(loop *l)
{
    const mr_formula *formula = &l->encoding->formula;
    size_t reads = l->encoding->lazy->read_count;
    void *choices = l->choices, *assumed = l->assumed, *of = l->reads, *core = l->in_core;
    bool grown = mr_grow(&choices, &l->choice_capacity, (size_t)formula->choice_count + 1,
                         sizeof *l->choices);
    l->choices = choices;
    grown = grown && mr_grow(&assumed, &l->assumed_capacity, reads + 1, sizeof *l->assumed);
    l->assumed = assumed;
    grown = grown && mr_grow(&of, &l->read_capacity, reads + 1, sizeof *l->reads);
    l->reads = of;
    grown = grown && mr_grow(&core, &l->core_capacity, reads + 1, sizeof *l->in_core);
    l->in_core = core;
    return grown;
}

/* "No read sees a write that it is not offered." */
static mr_assumptions assume(loop *l)
{
    const mr_lazy *lazy = l->encoding->lazy;
    mr_assumptions all = {.choices = l->assumed, .in_core = l->in_core};
    for (size_t i = 0; i < lazy->read_count; i++) {
        if (lazy->reads[i].more == MR_NONE)
            continue;
        MR_ASSERT(lazy->reads[i].more < l->encoding->formula.choice_count);
        l->reads[all.count] = (uint32_t)i;
        l->assumed[all.count++] = lazy->reads[i].more;
    }
    return all;
}

static progress extend(loop *l, const mr_assumptions *assumptions)
{
    progress result = UNSAT;
    for (uint32_t i = 0; i < assumptions->count; i++) {
        if (!assumptions->in_core[i])
            continue;
        if (!mr_lazy_extend(l->encoding, l->reads[i]))
            return NO_MEMORY;
        result = GOES_ON;
    }
    return result;
}

static progress refute(loop *l)
{
    uint32_t added;
    if (!mr_lazy_refute(l->encoding, l->order, l->choices, &added))
        return NO_MEMORY;
    /* A formula that is full takes no more clauses; run() looks at that. */
    return added || mr_formula_stopped(&l->encoding->formula) ? GOES_ON : SAT;
}

static progress ask(loop *l)
{
    if (!make_room(l))
        return NO_MEMORY;
    mr_assumptions assumptions = assume(l);
    switch (mr_query_check(l->query, &l->encoding->formula, &assumptions, l->order, l->choices)) {
    case MR_ANSWER_UNSAT:
        return extend(l, &assumptions);
    case MR_ANSWER_SAT:
        return mr_placement_order(&l->placement, l->order, l->choices) ? refute(l) : NO_MEMORY;
    case MR_ANSWER_UNKNOWN:
        break;
    }
    return UNKNOWN;
}

/* What the trace itself violates; choices that are not made are false there. */
static progress begin(loop *l, mr_arena *arena)
{
    if (!mr_placement_init(&l->placement, l->encoding, arena) || !make_room(l))
        return NO_MEMORY;
    memset(l->choices, 0, l->choice_capacity);
    mr_placement_of_trace(&l->placement, l->order);
    progress first = refute(l);
    return first == SAT ? GOES_ON : first; /* clauses that are not lazy may be violated */
}

static mr_lazily run(loop *l, mr_arena *arena)
{
    const mr_formula *formula = &l->encoding->formula;
    progress result = begin(l, arena);
    for (uint32_t round = 0; result == GOES_ON; round++) {
        if (formula->out_of_memory || mr_arena_is_halted(arena))
            return MR_LAZILY_NO_MEMORY;
        if (formula->too_large && !formula->contradiction)
            return MR_LAZILY_TOO_LARGE;
        if (round == l->budget->rounds || l->encoding->lazy->effort > l->budget->effort)
            return MR_LAZILY_OUT_OF_ROUNDS;
        result = ask(l);
    }
    switch (result) {
    case SAT:
        return MR_LAZILY_SAT;
    case UNSAT:
        return MR_LAZILY_UNSAT;
    case UNKNOWN:
        return MR_LAZILY_TROUBLE;
    case GOES_ON:
    case NO_MEMORY:
        break;
    }
    return MR_LAZILY_NO_MEMORY;
}

mr_lazily mr_solve_lazily(mr_encoding *encoding, mr_session *session, const mr_limits *limits,
                          const mr_lazy_budget *budget, int64_t *order, mr_trouble *trouble,
                          mr_arena *arena)
{
    loop l = {.encoding = encoding, .budget = budget, .order = order};
    *trouble = (mr_trouble){.why = MR_INTERRUPTED_MEMORY};
    if (encoding->formula.contradiction)
        return MR_LAZILY_UNSAT;
    l.query = mr_query_begin(session, limits, MR_SETTINGS_TUNED, encoding->event_of);
    mr_lazily result = MR_LAZILY_TROUBLE;
    if (l.query) {
        result = run(&l, arena);
        mr_query_end(l.query, trouble);
    }
    mr_placement_free(&l.placement);
    free(l.choices);
    free(l.assumed);
    free(l.reads);
    free(l.in_core);
    return result;
}
