#include "session.h"

#include "watchdog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <z3.h>

/* Queries after which the context is renewed: contexts are cheap, but what they cache only grows.
 */
enum { QUERIES_PER_CONTEXT = 500 };

struct mr_session {
    Z3_context context;
    mr_watchdog *watchdog;
    uint32_t queries;
};

/* One query: the Z3 terms of its nodes and choices, kept alive by `terms`. */
typedef struct query {
    Z3_context context;
    Z3_solver solver;
    Z3_ast_vector terms;
    Z3_ast *node, *choice, *literals;
    const mr_formula *formula;
    mr_watchdog *watchdog;
} query;

/* Errors are asked for with Z3_get_error_code; the default handler would end the process. */
static void ignore_error(Z3_context context, Z3_error_code code)
{
    (void)context;
    (void)code;
}

static bool renew_context(mr_session *session)
{
    if (session->context)
        Z3_del_context(session->context);
    Z3_config config = Z3_mk_config();
    Z3_set_param_value(config, "auto_config", "false");
    Z3_set_param_value(config, "model", "true");
    session->context = Z3_mk_context_rc(config);
    Z3_del_config(config);
    session->queries = 0;
    if (session->context)
        Z3_set_error_handler(session->context, ignore_error);
    return session->context != NULL;
}

mr_session *mr_session_new(void)
{
    mr_session *session = mr_calloc(1, sizeof *session);
    if (session)
        session->queries =
            QUERIES_PER_CONTEXT; /* Z3 is started by the first query: many runs need none */
    return session;
}

static bool ready(mr_session *session)
{
    if (!session->watchdog)
        session->watchdog = mr_watchdog_start();
    return session->watchdog &&
           (++session->queries <= QUERIES_PER_CONTEXT || renew_context(session));
}

void mr_session_free(mr_session *session)
{
    if (!session)
        return;
    mr_watchdog_stop(session->watchdog);
    if (session->context)
        Z3_del_context(session->context);
    free(session);
}

static Z3_ast keep(query *q, Z3_ast term)
{
    Z3_ast_vector_push(q->context, q->terms, term);
    return term;
}

static Z3_ast constant(query *q, char kind, uint32_t number, Z3_sort sort)
{
    char name[16];
    snprintf(name, sizeof name, "%c%u", kind, number);
    return keep(q, Z3_mk_const(q->context, Z3_mk_string_symbol(q->context, name), sort));
}

static Z3_ast literal_term(query *q, mr_literal literal, Z3_ast minus_one)
{
    Z3_context c = q->context;
    if (literal.v == MR_CHOICE)
        return q->choice[literal.u];
    if (literal.v == MR_NOT_CHOICE)
        return keep(q, Z3_mk_not(c, q->choice[literal.u]));
    Z3_ast pair[2] = {q->node[literal.u], q->node[literal.v]};
    Z3_ast difference = keep(q, Z3_mk_sub(c, 2, pair));
    return keep(q, Z3_mk_le(c, difference, minus_one));
}

/* Every so many assertions the clock is looked at. */
enum { ASSERTIONS_PER_LOOK = 256 };

static bool stopped(const query *q, size_t assertion)
{
    return Z3_get_error_code(q->context) != Z3_OK ||
           (assertion % ASSERTIONS_PER_LOOK == 0 &&
            mr_watchdog_alarm(q->watchdog) != MR_ALARM_NONE);
}

/* False: stopped by an error or a limit. */
static bool assert_all(query *q)
{
    Z3_context c = q->context;
    Z3_sort integers = Z3_mk_int_sort(c), booleans = Z3_mk_bool_sort(c);
    const mr_formula *formula = q->formula;
    for (uint32_t i = 0; i < formula->node_count; i++)
        q->node[i] = constant(q, 'o', i, integers);
    for (uint32_t i = 0; i < formula->choice_count; i++)
        q->choice[i] = constant(q, 'c', i, booleans);
    Z3_ast minus_one = keep(q, Z3_mk_int(c, -1, integers));
    for (size_t i = 0; i < formula->edge_count; i++) {
        if (stopped(q, i))
            return false;
        Z3_solver_assert(c, q->solver, literal_term(q, formula->edges[i], minus_one));
    }
    size_t at = 0;
    for (size_t k = 0; k < formula->clause_count; k++) {
        if (stopped(q, k))
            return false;
        uint32_t count = 0;
        for (; at < formula->clause_ends[k]; at++)
            q->literals[count++] = literal_term(q, formula->literals[at], minus_one);
        Z3_ast clause = count == 1 ? q->literals[0] : keep(q, Z3_mk_or(c, count, q->literals));
        Z3_solver_assert(c, q->solver, clause);
    }
    return Z3_get_error_code(c) == Z3_OK;
}

static void set_parameters(query *q, bool as_it_comes)
{
    Z3_context c = q->context;
    Z3_params parameters = Z3_mk_params(c);
    Z3_params_inc_ref(c, parameters);
    if (as_it_comes) {
        Z3_params_set_bool(c, parameters, Z3_mk_string_symbol(c, "auto_config"), true);
        Z3_solver_set_params(c, q->solver, parameters);
        Z3_params_dec_ref(c, parameters);
        return;
    }
    /* Difference logic by Bellman-Ford; relevancy costs more than it saves on clauses this short;
     * phase false prefers the choices and orders that were made last to be left alone. */
    Z3_params_set_uint(c, parameters, Z3_mk_string_symbol(c, "arith.solver"), 1);
    Z3_params_set_uint(c, parameters, Z3_mk_string_symbol(c, "relevancy"), 0);
    Z3_params_set_uint(c, parameters, Z3_mk_string_symbol(c, "phase_selection"), 0);
    Z3_solver_set_params(c, q->solver, parameters);
    Z3_params_dec_ref(c, parameters);
}

static bool read_model(query *q, int64_t *order)
{
    Z3_context c = q->context;
    Z3_model model = Z3_solver_get_model(c, q->solver);
    if (!model)
        return false;
    Z3_model_inc_ref(c, model);
    bool complete = true;
    for (uint32_t i = 0; i < q->formula->node_count && complete; i++) {
        Z3_ast value = NULL;
        complete = Z3_model_eval(c, model, q->node[i], true, &value);
        if (!complete)
            break;
        keep(q, value);
        complete = Z3_get_numeral_int64(c, value, &order[i]);
    }
    Z3_model_dec_ref(c, model);
    return complete;
}

static uint32_t longest_clause(const mr_formula *formula)
{
    uint32_t longest = 1, begin = 0;
    for (size_t k = 0; k < formula->clause_count; k++) {
        if (formula->clause_ends[k] - begin > longest)
            longest = formula->clause_ends[k] - begin;
        begin = formula->clause_ends[k];
    }
    return longest;
}

static bool query_begin(query *q, mr_session *session, const mr_formula *formula, bool as_it_comes)
{
    *q = (query){.context = session->context, .formula = formula, .watchdog = session->watchdog};
    q->node = mr_calloc(formula->node_count, sizeof *q->node);
    q->choice = mr_calloc(formula->choice_count, sizeof *q->choice);
    q->literals = mr_calloc(longest_clause(formula), sizeof *q->literals);
    if (!q->node || !q->choice || !q->literals)
        return false;
    q->solver = Z3_mk_simple_solver(q->context);
    if (!q->solver)
        return false;
    Z3_solver_inc_ref(q->context, q->solver);
    q->terms = Z3_mk_ast_vector(q->context);
    Z3_ast_vector_inc_ref(q->context, q->terms);
    set_parameters(q, as_it_comes);
    return true;
}

static void query_end(query *q)
{
    if (q->terms)
        Z3_ast_vector_dec_ref(q->context, q->terms);
    if (q->solver)
        Z3_solver_dec_ref(q->context, q->solver);
    free(q->node);
    free(q->choice);
    free(q->literals);
}

static mr_answer ask(query *q, int64_t *order, char *detail, size_t detail_bytes)
{
    Z3_lbool result = assert_all(q) ? Z3_solver_check(q->context, q->solver) : Z3_L_UNDEF;
    if (result == Z3_L_FALSE)
        return MR_ANSWER_UNSAT;
    if (result == Z3_L_TRUE && read_model(q, order))
        return MR_ANSWER_SAT;
    Z3_error_code code = Z3_get_error_code(q->context);
    snprintf(detail, detail_bytes, "%s",
             code == Z3_OK ? Z3_solver_get_reason_unknown(q->context, q->solver)
                           : Z3_get_error_msg(q->context, code));
    return MR_ANSWER_UNKNOWN;
}

mr_answer mr_session_solve(mr_session *session, const mr_formula *formula, const mr_limits *limits,
                           bool as_it_comes, int64_t *order, mr_interrupted *why, char *detail,
                           size_t detail_bytes)
{
    *why = MR_INTERRUPTED_BY_SOLVER;
    snprintf(detail, detail_bytes, "%s", "");
    if (formula->contradiction)
        return MR_ANSWER_UNSAT;
    if (!ready(session)) {
        snprintf(detail, detail_bytes, "Z3 could not be started");
        return MR_ANSWER_UNKNOWN;
    }
    query q;
    mr_answer answer = MR_ANSWER_UNKNOWN;
    if (query_begin(&q, session, formula, as_it_comes)) {
        mr_watchdog_arm(session->watchdog, q.context, limits->timeout_ms, limits->memory_bytes);
        answer = ask(&q, order, detail, detail_bytes);
        mr_alarm alarm = mr_watchdog_disarm(session->watchdog);
        if (alarm != MR_ALARM_NONE)
            *why = alarm == MR_ALARM_TIME ? MR_INTERRUPTED_TIME : MR_INTERRUPTED_MEMORY;
    } else {
        *why = MR_INTERRUPTED_MEMORY;
    }
    query_end(&q);
    if (answer == MR_ANSWER_UNKNOWN) /* an interrupted context may hold on to the interrupt */
        session->queries = QUERIES_PER_CONTEXT;
    return answer;
}
