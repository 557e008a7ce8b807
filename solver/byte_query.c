#include "byte_query.h"

#include "base/assert.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <z3.h>

void mr_byte_question_free(mr_byte_question *question)
{
    free(question->terms);
    free(question->atoms);
    free(question->clauses);
    *question = (mr_byte_question){0};
}

void mr_byte_question_clear(mr_byte_question *question)
{
    question->term_count = question->atom_count = question->clause_count = 0;
    question->failed = false;
}

mr_byte_sum mr_byte_sum_begin(const mr_byte_question *question, uint64_t constant)
{
    return (mr_byte_sum){.constant = constant, .first = (uint32_t)question->term_count};
}

void mr_byte_sum_add(mr_byte_question *question, mr_byte_sum *sum, uint32_t at, uint64_t factor)
{
    void *terms = question->terms;
    MR_REQUIRE(question->failed || sum->first + sum->count == question->term_count);
    if (question->failed || !mr_grow(&terms, &question->term_capacity, question->term_count + 1,
                                     sizeof *question->terms)) {
        question->failed = true;
        return;
    }
    question->terms = terms;
    question->terms[question->term_count++] = (mr_byte_term){at, factor};
    sum->count++;
}

void mr_byte_clause_begin(mr_byte_question *question)
{
    void *clauses = question->clauses;
    if (question->failed || !mr_grow(&clauses, &question->clause_capacity,
                                     question->clause_count + 1, sizeof *question->clauses)) {
        question->failed = true;
        return;
    }
    question->clauses = clauses;
    question->clauses[question->clause_count++] =
        (mr_byte_clause){.first = (uint32_t)question->atom_count};
}

void mr_byte_clause_add(mr_byte_question *question, mr_byte_atom atom)
{
    void *atoms = question->atoms;
    MR_REQUIRE(question->failed || question->clause_count > 0);
    if (question->failed || !mr_grow(&atoms, &question->atom_capacity, question->atom_count + 1,
                                     sizeof *question->atoms)) {
        question->failed = true;
        return;
    }
    question->atoms = atoms;
    question->atoms[question->atom_count++] = atom;
    question->clauses[question->clause_count - 1].count++;
}

/* ---- what it means ---- */

static uint64_t cut(uint64_t value, unsigned bits)
{
    return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

static uint64_t value_of(const mr_byte_question *question, const mr_byte_sum *sum,
                         const uint8_t *bytes, size_t size)
{
    uint64_t value = sum->constant;
    for (uint32_t i = 0; i < sum->count; i++) {
        const mr_byte_term *term = &question->terms[sum->first + i];
        value += term->factor * (term->at < size ? bytes[term->at] : 0);
    }
    return value;
}

bool mr_byte_atom_holds(const mr_byte_question *question, const mr_byte_atom *atom,
                        const uint8_t *bytes, size_t size)
{
    uint64_t left = cut(value_of(question, &atom->left, bytes, size), atom->bits);
    uint64_t right = cut(value_of(question, &atom->right, bytes, size), atom->bits);
    uint64_t sign = UINT64_C(1) << (atom->bits - 1);
    switch (atom->relation) {
    case MR_BYTES_EQUAL:
        return left == right;
    case MR_BYTES_DIFFERENT:
        return left != right;
    case MR_BYTES_BELOW:
        return left < right;
    case MR_BYTES_BELOW_SIGNED:
        return (left ^ sign) < (right ^ sign);
    }
    MR_ASSERT(!"a relation");
    return false;
}

bool mr_byte_question_holds(const mr_byte_question *question, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < question->clause_count; i++) {
        const mr_byte_clause *clause = &question->clauses[i];
        bool holds = false;
        for (uint32_t k = 0; k < clause->count && !holds; k++)
            holds = mr_byte_atom_holds(question, &question->atoms[clause->first + k], bytes, size);
        if (!holds)
            return false;
    }
    return true;
}

/* ---- Z3 ---- */

typedef struct asking {
    const mr_byte_question *question;
    Z3_context context;
    Z3_ast_vector terms; /* keeps what is made alive */
    Z3_ast *bytes;       /* of the input; NULL: nobody has named it */
    size_t size;
} asking;

/* Errors are asked for with Z3_get_error_code; the default handler would end the process. */
static void ignore_error(Z3_context context, Z3_error_code code)
{
    (void)context;
    (void)code;
}

static Z3_ast keep(const asking *self, Z3_ast term)
{
    if (term)
        Z3_ast_vector_push(self->context, self->terms, term);
    return term;
}

static Z3_ast number(const asking *self, uint64_t value, unsigned bits)
{
    return keep(self, Z3_mk_unsigned_int64(self->context, cut(value, bits),
                                           Z3_mk_bv_sort(self->context, bits)));
}

static Z3_ast byte(const asking *self, uint32_t at)
{
    Z3_context c = self->context;
    if (!self->bytes[at])
        self->bytes[at] =
            keep(self, Z3_mk_const(c, Z3_mk_int_symbol(c, (int)at), Z3_mk_bv_sort(c, 8)));
    return self->bytes[at];
}

static Z3_ast sum_term(const asking *self, const mr_byte_sum *sum, unsigned bits)
{
    Z3_context c = self->context;
    Z3_ast total = number(self, sum->constant, bits);
    for (uint32_t i = 0; i < sum->count; i++) {
        const mr_byte_term *term = &self->question->terms[sum->first + i];
        if (term->at >= self->size)
            continue;
        Z3_ast value = byte(self, term->at);
        if (bits > 8)
            value = keep(self, Z3_mk_zero_ext(c, bits - 8, value));
        if (cut(term->factor, bits) != 1)
            value = keep(self, Z3_mk_bvmul(c, number(self, term->factor, bits), value));
        total = keep(self, Z3_mk_bvadd(c, total, value));
    }
    return total;
}

static Z3_ast atom_term(const asking *self, const mr_byte_atom *atom)
{
    Z3_context c = self->context;
    Z3_ast left = sum_term(self, &atom->left, atom->bits);
    Z3_ast right = sum_term(self, &atom->right, atom->bits);
    switch (atom->relation) {
    case MR_BYTES_EQUAL:
        return keep(self, Z3_mk_eq(c, left, right));
    case MR_BYTES_DIFFERENT:
        return keep(self, Z3_mk_not(c, keep(self, Z3_mk_eq(c, left, right))));
    case MR_BYTES_BELOW:
        return keep(self, Z3_mk_bvult(c, left, right));
    case MR_BYTES_BELOW_SIGNED:
        return keep(self, Z3_mk_bvslt(c, left, right));
    }
    MR_ASSERT(!"a relation");
    return NULL;
}

static void tell(const asking *self, Z3_solver solver)
{
    Z3_context c = self->context;
    for (size_t i = 0; i < self->question->clause_count; i++) {
        const mr_byte_clause *clause = &self->question->clauses[i];
        Z3_ast any = keep(self, Z3_mk_false(c));
        for (uint32_t k = 0; k < clause->count; k++) {
            Z3_ast pair[2] = {any, atom_term(self, &self->question->atoms[clause->first + k])};
            any = k ? keep(self, Z3_mk_or(c, 2, pair)) : pair[1];
        }
        Z3_solver_assert(c, solver, any);
    }
}

/* The bytes that the last constraint does not name keep their value. */
static void fix_others(const asking *self, Z3_solver solver, const uint8_t *bytes)
{
    const mr_byte_question *question = self->question;
    Z3_context c = self->context;
    uint8_t *named = mr_calloc(self->size + 1, 1);
    const mr_byte_clause *last = &question->clauses[question->clause_count - 1];
    for (uint32_t k = 0; named && k < last->count; k++) {
        const mr_byte_atom *atom = &question->atoms[last->first + k];
        const mr_byte_sum *sums[2] = {&atom->left, &atom->right};
        for (int side = 0; side < 2; side++)
            for (uint32_t i = 0; i < sums[side]->count; i++)
                if (question->terms[sums[side]->first + i].at < self->size)
                    named[question->terms[sums[side]->first + i].at] = 1;
    }
    for (uint32_t at = 0; named && at < self->size; at++)
        if (self->bytes[at] && !named[at])
            Z3_solver_assert(c, solver,
                             keep(self, Z3_mk_eq(c, self->bytes[at], number(self, bytes[at], 8))));
    free(named);
}

static void take_solution(const asking *self, Z3_solver solver, uint8_t *bytes)
{
    Z3_context c = self->context;
    Z3_model model = Z3_solver_get_model(c, solver);
    if (!model)
        return;
    Z3_model_inc_ref(c, model);
    for (size_t at = 0; at < self->size; at++) {
        Z3_ast value = NULL;
        uint64_t found;
        if (self->bytes[at] && Z3_model_eval(c, model, self->bytes[at], true, &value) && value &&
            Z3_get_numeral_uint64(c, value, &found))
            bytes[at] = (uint8_t)found;
    }
    Z3_model_dec_ref(c, model);
}

static mr_answer check(const asking *self, uint32_t units, bool fixes, uint8_t *bytes)
{
    Z3_context c = self->context;
    Z3_solver solver = Z3_mk_simple_solver(c);
    if (!solver)
        return MR_ANSWER_UNKNOWN;
    Z3_solver_inc_ref(c, solver);
    Z3_params params = Z3_mk_params(c);
    Z3_params_inc_ref(c, params);
    if (units)
        Z3_params_set_uint(c, params, Z3_mk_string_symbol(c, "rlimit"), units);
    Z3_solver_set_params(c, solver, params);
    Z3_params_dec_ref(c, params);
    tell(self, solver);
    if (fixes)
        fix_others(self, solver, bytes);
    mr_answer answer = MR_ANSWER_UNKNOWN;
    if (Z3_get_error_code(c) == Z3_OK) {
        Z3_lbool result = Z3_solver_check(c, solver);
        if (result == Z3_L_TRUE)
            take_solution(self, solver, bytes);
        answer = result == Z3_L_TRUE    ? MR_ANSWER_SAT
                 : result == Z3_L_FALSE ? MR_ANSWER_UNSAT
                                        : MR_ANSWER_UNKNOWN;
    }
    Z3_solver_dec_ref(c, solver);
    return answer;
}

mr_answer mr_byte_question_solve(const mr_byte_question *question, uint32_t units, uint8_t *bytes,
                                 size_t size)
{
    asking self = {.question = question, .size = size};
    if (question->failed || !question->clause_count)
        return question->failed ? MR_ANSWER_UNKNOWN : MR_ANSWER_SAT;
    self.bytes = mr_calloc(size + 1, sizeof(Z3_ast));
    Z3_config config = Z3_mk_config();
    self.context = config ? Z3_mk_context_rc(config) : NULL;
    if (config)
        Z3_del_config(config);
    mr_answer answer = MR_ANSWER_UNKNOWN;
    if (self.bytes && self.context) {
        Z3_set_error_handler(self.context, ignore_error);
        self.terms = Z3_mk_ast_vector(self.context);
        Z3_ast_vector_inc_ref(self.context, self.terms);
        answer = check(&self, units, true, bytes);
        if (answer != MR_ANSWER_SAT)
            answer = check(&self, units, false, bytes);
        if (answer == MR_ANSWER_SAT && !mr_byte_question_holds(question, bytes, size))
            answer = MR_ANSWER_UNKNOWN;
        Z3_ast_vector_dec_ref(self.context, self.terms);
    }
    if (self.context)
        Z3_del_context(self.context);
    free(self.bytes);
    return answer;
}
