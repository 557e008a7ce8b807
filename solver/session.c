#include "session.h"

#include "base/assert.h"
#include "units.h"
#include "watchdog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <z3.h>

struct mr_session {
    mr_watchdog *watchdog; /* NULL before the first query: many runs need none */
};

/* The Z3 terms of its nodes and choices, kept alive by `terms`, and how much of the formula Z3 has
 * been told. */
struct mr_query {
    mr_session *session;
    Z3_context context; /* owned */
    Z3_solver solver;
    Z3_ast_vector terms;
    Z3_ast minus_one;
    Z3_ast *node, *choice, *literals; /* `literals`: scratch for a clause */
    bool *chosen;                     /* of each choice in the latest model */
    size_t node_count, node_capacity, choice_count, choice_capacity, literal_capacity,
        chosen_capacity;
    size_t edge_count, clause_count;
    const uint32_t *ranks;
    mr_settings settings;
    mr_units units;
    bool failed; /* an answer was UNKNOWN */
    bool broken; /* Z3 could not make a term: what it was told is not the formula */
    bool no_memory;
    char detail[64];
};

/* Errors are asked for with Z3_get_error_code; the default handler would end the process. */
static void ignore_error(Z3_context context, Z3_error_code code)
{
    (void)context;
    (void)code;
}

static Z3_context new_context(void)
{
    Z3_config config = Z3_mk_config();
    Z3_set_param_value(config, "auto_config", "false");
    Z3_set_param_value(config, "model", "true");
    Z3_context context = Z3_mk_context_rc(config);
    Z3_del_config(config);
    if (context)
        Z3_set_error_handler(context, ignore_error);
    return context;
}

/* A context takes two tables of 8 MB, and gives them back with the query. An allocator that
 * returned them to the system each time would have them cleared page by page each time, which costs
 * more than all else; glibc keeps what is smaller than the largest block that it has seen freed. */
static void keep_freed_memory(void)
{
    enum { BLOCK_BYTES = 31 << 20 };
    volatile char *block = malloc(BLOCK_BYTES);
    if (block)
        *block = 0; /* volatile: or the pair would be left out */
    free((void *)block);
}

mr_session *mr_session_new(void)
{
    return mr_calloc(1, sizeof(mr_session));
}

void mr_session_free(mr_session *session)
{
    if (!session)
        return;
    mr_watchdog_stop(session->watchdog);
    free(session);
}

uint64_t mr_limits_memory_bytes(const mr_limits *limits)
{
    uint64_t left = mr_room_left(limits->room);
    if (!limits->room || (limits->memory_bytes && limits->memory_bytes < left))
        return limits->memory_bytes;
    return left ? left : 1;
}

uint64_t mr_limits_formula_bytes(const mr_limits *limits)
{
    enum { LEAST = 4 << 20 };
    uint64_t part = mr_limits_memory_bytes(limits) / 4;
    return part == 0 || part > LEAST ? part : LEAST;
}

/* A term that Z3 has not made, for want of memory or as it was interrupted, is replaced by another
 * one. The query is then broken, and nothing more is asked. */
static Z3_ast keep(mr_query *q, Z3_ast term)
{
    bool made = term && Z3_get_error_code(q->context) == Z3_OK;
    if (made) {
        Z3_ast_vector_push(q->context, q->terms, term);
        made = Z3_get_error_code(q->context) == Z3_OK;
    }
    q->broken |= !made;
    return made ? term : q->minus_one;
}

static Z3_ast constant(mr_query *q, uint32_t number, Z3_sort sort)
{
    return keep(q, Z3_mk_const(q->context, Z3_mk_int_symbol(q->context, (int)number), sort));
}

/* Makes the terms of new nodes and choices. False: no memory. */
static bool make_constants(mr_query *q, const mr_formula *formula)
{
    void *node = q->node, *choice = q->choice, *chosen = q->chosen;
    Z3_sort integers = Z3_mk_int_sort(q->context), booleans = Z3_mk_bool_sort(q->context);
    if (!mr_grow(&node, &q->node_capacity, formula->node_count, sizeof(Z3_ast)))
        return false;
    q->node = node;
    if (!mr_grow(&choice, &q->choice_capacity, formula->choice_count, sizeof(Z3_ast)))
        return false;
    q->choice = choice;
    if (!mr_grow(&chosen, &q->chosen_capacity, (size_t)formula->choice_count + 1, sizeof(bool)))
        return false;
    q->chosen = chosen;
    for (; q->node_count < formula->node_count; q->node_count++)
        q->node[q->node_count] = constant(q, (uint32_t)q->node_count, integers);
    for (; q->choice_count < formula->choice_count; q->choice_count++)
        q->choice[q->choice_count] = constant(q, (uint32_t)q->choice_count, booleans);
    return true;
}

static Z3_ast literal_term(mr_query *q, mr_literal literal)
{
    Z3_context c = q->context;
    if (literal.v == MR_CHOICE)
        return q->choice[literal.u];
    if (literal.v == MR_NOT_CHOICE)
        return keep(q, Z3_mk_not(c, q->choice[literal.u]));
    bool straight =
        q->settings == MR_SETTINGS_AS_IT_COMES || q->ranks[literal.u] > q->ranks[literal.v];
    uint32_t u = straight ? literal.u : literal.v, v = straight ? literal.v : literal.u;
    Z3_ast pair[2] = {q->node[u], q->node[v]};
    Z3_ast difference = keep(q, Z3_mk_sub(c, 2, pair));
    Z3_ast before = keep(q, Z3_mk_le(c, difference, q->minus_one));
    return straight ? before : keep(q, Z3_mk_not(c, before));
}

/* Every so many assertions the clock is looked at. */
enum { ASSERTIONS_PER_LOOK = 256 };

static bool stopped(const mr_query *q, size_t assertion)
{
    return q->broken || Z3_get_error_code(q->context) != Z3_OK ||
           (assertion % ASSERTIONS_PER_LOOK == 0 && mr_query_interrupted(q));
}

static void tell(mr_query *q, Z3_ast term)
{
    if (!q->broken)
        Z3_solver_assert(q->context, q->solver, term);
    q->broken |= Z3_get_error_code(q->context) != Z3_OK;
}

static bool assert_clause(mr_query *q, const mr_formula *formula, size_t clause)
{
    size_t begin = clause ? formula->clause_ends[clause - 1] : 0;
    size_t count = formula->clause_ends[clause] - begin;
    void *literals = q->literals;
    if (!mr_grow(&literals, &q->literal_capacity, count, sizeof(Z3_ast)))
        return false;
    q->literals = literals;
    for (size_t i = 0; i < count; i++)
        q->literals[i] = literal_term(q, formula->literals[begin + i]);
    Z3_ast term =
        count == 1 ? q->literals[0] : keep(q, Z3_mk_or(q->context, (unsigned)count, q->literals));
    tell(q, term);
    return true;
}

/* Tells Z3 what is new. False: stopped by an error or a limit. */
static bool assert_new(mr_query *q, const mr_formula *formula)
{
    q->no_memory = !make_constants(q, formula);
    if (q->no_memory)
        return false;
    for (; q->edge_count < formula->edge_count; q->edge_count++) {
        if (stopped(q, q->edge_count))
            return false;
        tell(q, literal_term(q, formula->edges[q->edge_count]));
    }
    for (; q->clause_count < formula->clause_count; q->clause_count++) {
        if (stopped(q, q->clause_count))
            return false;
        q->no_memory = !assert_clause(q, formula, q->clause_count);
        if (q->no_memory)
            return false;
    }
    return !q->broken;
}

enum { PHASE_CACHING = 3 }; /* of Z3's phase_selection */

/* For the next check, which has what is left of the units. */
static void set_parameters(mr_query *q)
{
    Z3_context c = q->context;
    Z3_params parameters = Z3_mk_params(c);
    Z3_params_inc_ref(c, parameters);
    /* A signal to end the run is for the run, not for the question under way. */
    Z3_params_set_bool(c, parameters, Z3_mk_string_symbol(c, "ctrl_c"), false);
    if (q->settings == MR_SETTINGS_AS_IT_COMES) {
        Z3_params_set_bool(c, parameters, Z3_mk_string_symbol(c, "auto_config"), true);
    } else {
        /* Difference logic by Bellman-Ford; relevancy costs more than it saves on clauses this
         * short; phase caching tries what an atom was last, at first false: what changes little
         * from one check of a query to the next is found again. */
        Z3_params_set_uint(c, parameters, Z3_mk_string_symbol(c, "arith.solver"), 1);
        Z3_params_set_uint(c, parameters, Z3_mk_string_symbol(c, "relevancy"), 0);
        Z3_params_set_uint(c, parameters, Z3_mk_string_symbol(c, "phase_selection"), PHASE_CACHING);
    }
    if (q->units.limit)
        Z3_params_set_uint(c, parameters, Z3_mk_string_symbol(c, "rlimit"),
                           mr_units_left(&q->units));
    Z3_solver_set_params(c, q->solver, parameters);
    Z3_params_dec_ref(c, parameters);
}

/* The value of a constant in a model; NULL: any will do. */
static Z3_ast value_of(const mr_query *q, Z3_model model, Z3_ast term)
{
    Z3_func_decl name = Z3_get_app_decl(q->context, Z3_to_app(q->context, term));
    return Z3_model_get_const_interp(q->context, model, name);
}

typedef struct position {
    int64_t value;
    uint32_t rank, node;
} position;

static int compare_positions(const void *one, const void *two)
{
    const position *x = one, *y = two;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Makes all positions different, by rank. False: no memory. */
static bool break_ties(const mr_query *q, int64_t *order)
{
    position *positions = mr_calloc(q->node_count, sizeof *positions);
    if (!positions)
        return false;
    for (uint32_t i = 0; i < q->node_count; i++)
        positions[i] = (position){.value = order[i], .rank = q->ranks[i], .node = i};
    qsort(positions, q->node_count, sizeof *positions, compare_positions);
    for (uint32_t i = 0; i < q->node_count; i++)
        order[positions[i].node] = i;
    free(positions);
    return true;
}

/* The positions and choices of the model. False: it has none for some of them, or Z3 failed. */
static bool read_model(mr_query *q, int64_t *order)
{
    Z3_context c = q->context;
    Z3_model model = Z3_solver_get_model(c, q->solver);
    if (!model)
        return false;
    Z3_model_inc_ref(c, model);
    bool complete = true;
    for (size_t i = 0; i < q->node_count && complete; i++) {
        Z3_ast value = value_of(q, model, q->node[i]);
        order[i] = 0; /* nothing is asked of a node without a value */
        complete = !value || Z3_get_numeral_int64(c, value, &order[i]);
    }
    for (size_t i = 0; i < q->choice_count && complete; i++) {
        Z3_ast value = value_of(q, model, q->choice[i]);
        q->chosen[i] = value && Z3_get_bool_value(c, value) == Z3_L_TRUE;
    }
    Z3_model_dec_ref(c, model);
    q->no_memory = !break_ties(q, order);
    return complete && !q->no_memory && Z3_get_error_code(c) == Z3_OK;
}

/* A model of the formula. Z3 may give another one when it was interrupted while it took over a
 * clause: the clause is lost then, and no error says so. So each model is compared with the formula,
 * which costs little beside the search. */
static bool read_solution(mr_query *q, const mr_formula *formula, int64_t *order, uint8_t *choices)
{
    if (!read_model(q, order) || !mr_formula_holds(formula, order, q->chosen))
        return false;
    for (size_t i = 0; choices && i < q->choice_count; i++)
        choices[i] = q->chosen[i];
    return true;
}

/* Which of the assumed terms are in the core. False: Z3 cannot say. */
static bool read_core(mr_query *q, const Z3_ast *assumed, const mr_assumptions *assumptions)
{
    Z3_context c = q->context;
    Z3_ast_vector core = Z3_solver_get_unsat_core(c, q->solver);
    if (!core || Z3_get_error_code(c) != Z3_OK)
        return false;
    Z3_ast_vector_inc_ref(c, core);
    unsigned size = Z3_ast_vector_size(c, core);
    for (uint32_t i = 0; i < assumptions->count; i++)
        assumptions->in_core[i] = false;
    for (unsigned k = 0; k < size; k++) {
        Z3_ast term = Z3_ast_vector_get(c, core, k);
        for (uint32_t i = 0; i < assumptions->count; i++)
            assumptions->in_core[i] |= term == assumed[i]; /* equal terms are one in Z3 */
    }
    Z3_ast_vector_dec_ref(c, core);
    return true;
}

static bool query_init(mr_query *q)
{
    q->context = new_context();
    if (!q->context)
        return false;
    q->solver = Z3_mk_simple_solver(q->context);
    if (!q->solver)
        return false;
    Z3_solver_inc_ref(q->context, q->solver);
    q->terms = Z3_mk_ast_vector(q->context);
    if (!q->terms)
        return false;
    Z3_ast_vector_inc_ref(q->context, q->terms);
    q->minus_one = keep(q, Z3_mk_int(q->context, -1, Z3_mk_int_sort(q->context)));
    return !q->broken;
}

static void query_free(mr_query *q)
{
    if (q->terms)
        Z3_ast_vector_dec_ref(q->context, q->terms);
    if (q->solver)
        Z3_solver_dec_ref(q->context, q->solver);
    if (q->context)
        Z3_del_context(q->context);
    free(q->node);
    free(q->choice);
    free(q->literals);
    free(q->chosen);
    free(q);
}

mr_query *mr_query_begin(mr_session *session, const mr_limits *limits, mr_settings settings,
                         const uint32_t *ranks)
{
    if (!session->watchdog) {
        keep_freed_memory();
        session->watchdog = mr_watchdog_start();
    }
    if (!session->watchdog)
        return NULL;
    mr_query *q = mr_calloc(1, sizeof *q);
    if (!q)
        return NULL;
    q->session = session;
    q->units.limit = limits->units;
    q->settings = settings;
    q->ranks = ranks;
    if (!query_init(q)) {
        query_free(q);
        return NULL;
    }
    mr_watchdog_arm(session->watchdog, q->context, limits->timeout_ms, limits->memory_bytes,
                    limits->room, limits->halt);
    return q;
}

static Z3_lbool check(mr_query *q, const mr_formula *formula, const mr_assumptions *assumptions)
{
    uint32_t count = assumptions ? assumptions->count : 0;
    if (!count)
        return Z3_solver_check(q->context, q->solver);
    Z3_ast *assumed = mr_calloc(count, sizeof *assumed);
    q->no_memory = !assumed;
    if (!assumed)
        return Z3_L_UNDEF;
    MR_REQUIRE(formula->choice_count == q->choice_count);
    for (uint32_t i = 0; i < count; i++)
        assumed[i] = literal_term(q, mr_choice(assumptions->choices[i], false));
    Z3_lbool result = Z3_solver_check_assumptions(q->context, q->solver, count, assumed);
    if (result == Z3_L_FALSE && !read_core(q, assumed, assumptions))
        result = Z3_L_UNDEF;
    free(assumed);
    return result;
}

/* Keeps Z3's words for what went wrong in its latest call. */
static void explain(mr_query *q)
{
    Z3_error_code code = Z3_get_error_code(q->context);
    snprintf(q->detail, sizeof q->detail, "%s",
             code == Z3_OK ? Z3_solver_get_reason_unknown(q->context, q->solver)
                           : Z3_get_error_msg(q->context, code));
}

/* A check with what is left of the units, if anything is. */
static Z3_lbool check_within_limit(mr_query *q, const mr_formula *formula,
                                   const mr_assumptions *assumptions)
{
    mr_units_count(&q->units, q->context, q->solver);
    if (mr_units_used_up(&q->units))
        return Z3_L_UNDEF;
    set_parameters(q);
    Z3_lbool result = check(q, formula, assumptions);
    if (result == Z3_L_UNDEF)
        explain(q);
    mr_units_count(&q->units, q->context, q->solver);
    return result;
}

mr_answer mr_query_check(mr_query *q, const mr_formula *formula, const mr_assumptions *assumptions,
                         int64_t *order, uint8_t *choices)
{
    MR_REQUIRE(!q->failed);
    if (formula->contradiction) {
        for (uint32_t i = 0; assumptions && i < assumptions->count; i++)
            assumptions->in_core[i] = false;
        return MR_ANSWER_UNSAT;
    }
    MR_REQUIRE(formula->edge_count >= q->edge_count && formula->clause_count >= q->clause_count);
    bool told = assert_new(q, formula);
    Z3_lbool result = told ? check_within_limit(q, formula, assumptions) : Z3_L_UNDEF;
    if (result == Z3_L_FALSE && !mr_query_interrupted(q))
        return MR_ANSWER_UNSAT;
    if (result == Z3_L_TRUE && read_solution(q, formula, order, choices))
        return MR_ANSWER_SAT;
    if (!told || result != Z3_L_UNDEF)
        explain(q);
    q->failed = true;
    return MR_ANSWER_UNKNOWN;
}

bool mr_query_interrupted(const mr_query *q)
{
    return mr_watchdog_alarm(q->session->watchdog) != MR_ALARM_NONE;
}

void mr_query_end(mr_query *q, mr_trouble *trouble)
{
    mr_alarm alarm = mr_watchdog_disarm(q->session->watchdog);
    *trouble = (mr_trouble){.why = MR_INTERRUPTED_BY_SOLVER};
    memcpy(trouble->detail, q->detail, sizeof trouble->detail);
    trouble->units = q->units.used;
    /* First what is the same each time. */
    if (mr_units_used_up(&q->units)) {
        trouble->why = MR_INTERRUPTED_UNITS;
        snprintf(trouble->detail, sizeof trouble->detail, "solver.rlimit");
    } else if (alarm == MR_ALARM_TIME) {
        trouble->why = MR_INTERRUPTED_TIME;
    } else if (alarm == MR_ALARM_MEMORY || q->no_memory) {
        trouble->why = MR_INTERRUPTED_MEMORY;
    }
    query_free(q);
}

/* Z3 takes some 20 units and more for each literal of a formula that it settles. Where there are fewer than this, it
 * reads the formula in, takes the memory, and gives up. */
enum { LEAST_UNITS_OF_LITERAL = 4 };

mr_answer mr_session_solve(mr_session *session, const mr_formula *formula, const mr_limits *limits,
                           mr_settings settings, const uint32_t *ranks, int64_t *order,
                           mr_trouble *trouble)
{
    *trouble = (mr_trouble){.why = MR_INTERRUPTED_MEMORY};
    if (formula->contradiction)
        return MR_ANSWER_UNSAT;
    if (limits->units && settings != MR_SETTINGS_AS_IT_COMES &&
        formula->literal_count > limits->units / LEAST_UNITS_OF_LITERAL) {
        *trouble = (mr_trouble){.why = MR_INTERRUPTED_UNITS, .detail = "solver.rlimit"};
        return MR_ANSWER_UNKNOWN;
    }
    mr_query *query = mr_query_begin(session, limits, settings, ranks);
    if (!query) {
        snprintf(trouble->detail, sizeof trouble->detail, "Z3 could not be started");
        return MR_ANSWER_UNKNOWN;
    }
    mr_answer answer = mr_query_check(query, formula, NULL, order, NULL);
    mr_query_end(query, trouble);
    return answer;
}

mr_unknown_reason mr_session_reason(mr_interrupted why)
{
    switch (why) {
    case MR_INTERRUPTED_UNITS:
        return MR_UNKNOWN_STEPS;
    case MR_INTERRUPTED_TIME:
        return MR_UNKNOWN_TIME;
    case MR_INTERRUPTED_MEMORY:
        return MR_UNKNOWN_MEMORY;
    case MR_INTERRUPTED_BY_SOLVER:
        break;
    }
    return MR_UNKNOWN_SOLVER;
}
