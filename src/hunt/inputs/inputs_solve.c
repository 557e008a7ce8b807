/* Turns comparisons of a run, by Z3, as concolic execution does. */
#include "inputs_match.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

enum {
    TARGETS = 48,      /* of an input and a stage */
    ATTEMPTS = 4,      /* to reach an outcome, by all inputs and stages */
    FORMS = 3,         /* of an operand that are tried */
    PREFIX_MOST = 200, /* comparisons before that are to stay as they were */
    UNITS = 2000000,   /* of Z3, a question */
};

/* What is known of the two operands of a comparison. */
typedef struct operand_sums {
    mr_operand_form forms[2];
    bool known[2];
} operand_sums;

typedef struct solving {
    mr_inputs *inputs;
    uint32_t index;
    const mr_compared *comparisons;
    uint32_t count;
    operand_sums *sums; /* by comparison */
    uint8_t *touched;   /* by byte: the question is about it */
    mr_byte_question question;
    uint32_t targets;
} solving;

static const mr_input_bytes *input_of(const solving *self)
{
    return &self->inputs->corpus[self->index].bytes;
}

static bool is_number(const mr_compared *compared)
{
    return compared->kind != MR_OPERAND_TEXT;
}

/* Only COMPARED has a second operand that is not a constant. */
static int sides(const mr_compared *compared)
{
    return compared->kind == MR_OPERAND_COMPARED ? 2 : 1;
}

/* ---- what is known of operands ---- */

/* An operand that stands in the input once. */
static void know_by_match(const solving *self)
{
    for (uint32_t i = 0; i < self->count; i++) {
        const mr_compared *compared = &self->comparisons[i];
        for (int side = 0; is_number(compared) && side < sides(compared); side++) {
            mr_operand_form forms[2];
            self->sums[i].known[side] = mr_match_number(input_of(self), compared->numbers[side],
                                                        compared->bytes, forms, 2) == 1;
            self->sums[i].forms[side] = forms[0];
        }
    }
}

static bool is_power_of_ten(uint64_t factor)
{
    if (factor > INT64_MAX)
        factor = 0 - factor;
    while (factor > 0 && factor % 10 == 0)
        factor /= 10;
    return factor == 1;
}

static void know_by_probes(const solving *self)
{
    const mr_corpus_input *input = &self->inputs->corpus[self->index];
    for (size_t i = 0; i < input->dependence_count; i++) {
        const mr_dependence *item = &input->dependences[i];
        for (int side = 0; side < 2 && item->comparison < self->count; side++) {
            mr_operand_form *form = &self->sums[item->comparison].forms[side];
            if (!item->change[side] || form->count == MR_FORM_TERMS)
                continue;
            form->terms[form->count++] = (mr_byte_term){item->at, item->change[side]};
            self->sums[item->comparison].known[side] = true;
        }
    }
    for (uint32_t i = 0; i < self->count; i++)
        for (int side = 0; side < 2; side++) {
            mr_operand_form *form = &self->sums[i].forms[side];
            form->digits = form->count > 1;
            for (uint32_t k = 0; k < form->count; k++) {
                uint8_t byte = input->bytes.items[form->terms[k].at];
                form->digits = form->digits && byte >= '0' && byte <= '9' &&
                               is_power_of_ten(form->terms[k].factor);
            }
        }
}

/* ---- questions ---- */

static mr_byte_sum sum_of(solving *self, const mr_operand_form *form, uint64_t value)
{
    const mr_input_bytes *input = input_of(self);
    uint64_t constant = value;
    for (uint32_t i = 0; form && i < form->count; i++)
        constant -= form->terms[i].factor * input->items[form->terms[i].at];
    mr_byte_sum sum = mr_byte_sum_begin(&self->question, constant);
    for (uint32_t i = 0; form && i < form->count; i++)
        mr_byte_sum_add(&self->question, &sum, form->terms[i].at, form->terms[i].factor);
    return sum;
}

/* The comparison as an atom. One side at least is known. */
static void add_clause(solving *self, const mr_compared *compared,
                       const mr_operand_form *const forms[2], mr_byte_relation relation,
                       bool swapped)
{
    mr_byte_atom atom = {.relation = relation, .bits = (uint8_t)(8 * compared->bytes)};
    mr_byte_sum one = sum_of(self, forms[0], compared->numbers[0]);
    mr_byte_sum two = sum_of(self, forms[1], compared->numbers[1]);
    atom.left = swapped ? two : one;
    atom.right = swapped ? one : two;
    mr_byte_clause_begin(&self->question);
    mr_byte_clause_add(&self->question, atom);
}

static int64_t as_signed(uint64_t value, unsigned bytes)
{
    unsigned shift = 64 - 8 * bytes;
    return (int64_t)(value << shift) >> shift;
}

/* The comparison is to go as it did: in the order of its operands (`strict`), or only in whether they
 * are equal. */
static void add_as_it_was(solving *self, uint32_t at, bool strict)
{
    const mr_compared *compared = &self->comparisons[at];
    const operand_sums *sums = &self->sums[at];
    const mr_operand_form *forms[2] = {sums->known[0] ? &sums->forms[0] : NULL,
                                       sums->known[1] ? &sums->forms[1] : NULL};
    uint64_t a = compared->numbers[0], b = compared->numbers[1];
    if (a == b || !strict) {
        add_clause(self, compared, forms, a == b ? MR_BYTES_EQUAL : MR_BYTES_DIFFERENT, false);
        return;
    }
    add_clause(self, compared, forms, MR_BYTES_BELOW, a > b);
    add_clause(self, compared, forms, MR_BYTES_BELOW_SIGNED,
               as_signed(a, compared->bytes) > as_signed(b, compared->bytes));
}

static bool touches(const solving *self, const operand_sums *sums)
{
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; sums->known[side] && i < sums->forms[side].count; i++)
            if (self->touched[sums->forms[side].terms[i].at])
                return true;
    return false;
}

/* The comparisons before it that are about the same bytes. False: there is none. */
static bool add_prefix(solving *self, uint32_t target, bool strict)
{
    uint32_t left = PREFIX_MOST;
    for (uint32_t at = target; at-- > 0 && left > 0;)
        if (is_number(&self->comparisons[at]) && touches(self, &self->sums[at])) {
            add_as_it_was(self, at, strict);
            left--;
        }
    return left < PREFIX_MOST;
}

static void touch(solving *self, const mr_operand_form *form)
{
    for (uint32_t i = 0; form && i < form->count; i++)
        self->touched[form->terms[i].at] = 1;
}

static void keep_digits(solving *self, const mr_operand_form *form)
{
    for (uint32_t i = 0; form && form->digits && i < form->count; i++) {
        mr_byte_atom atom = {.relation = MR_BYTES_BELOW, .bits = 8};
        atom.left = mr_byte_sum_begin(&self->question, 256 - '0');
        mr_byte_sum_add(&self->question, &atom.left, form->terms[i].at, 1);
        atom.right = mr_byte_sum_begin(&self->question, 10);
        mr_byte_clause_begin(&self->question);
        mr_byte_clause_add(&self->question, atom);
    }
}

/* How much of what came before is to stay, from all of it to nothing. */
typedef enum keeping { KEEPS_ORDERS, KEEPS_EQUALITIES, KEEPS_NOTHING } keeping;

/* Asks for the outcome, the operands being these sums (NULL: a constant). *found: there is an answer. */
static bool ask(solving *self, uint32_t target, const mr_operand_form *const forms[2],
                mr_sign wanted, keeping keeps, bool *found)
{
    const mr_compared *compared = &self->comparisons[target];
    const mr_input_bytes *input = input_of(self);
    mr_byte_question_clear(&self->question);
    memset(self->touched, 0, input->size);
    touch(self, forms[0]);
    touch(self, forms[1]);
    *found = false;
    if (keeps != KEEPS_NOTHING && !add_prefix(self, target, keeps == KEEPS_ORDERS))
        return true; /* the same as without */
    keep_digits(self, forms[0]);
    keep_digits(self, forms[1]);
    if (wanted != MR_SIGN_EQUAL)
        add_clause(self, compared, forms, MR_BYTES_BELOW_SIGNED, wanted == MR_SIGN_ABOVE);
    add_clause(self, compared, forms, wanted == MR_SIGN_EQUAL ? MR_BYTES_EQUAL : MR_BYTES_BELOW,
               wanted == MR_SIGN_ABOVE);
    uint8_t *bytes = mr_malloc(1, input->size);
    if (!bytes || self->question.failed) {
        free(bytes);
        return false;
    }
    memcpy(bytes, input->items, input->size);
    *found = mr_byte_question_solve(&self->question, UNITS, bytes, input->size) == MR_ANSWER_SAT;
    bool done = !*found || mr_inputs_offer(self->inputs, bytes, input->size, MR_INPUT_WHY_SOLVED,
                                           self->index, 0);
    free(bytes);
    return done;
}

static bool ask_all_ways(solving *self, uint32_t target, const mr_operand_form *one,
                         const mr_operand_form *two, mr_sign wanted)
{
    const mr_operand_form *forms[2] = {one, two};
    bool found = false;
    for (int keeps = KEEPS_ORDERS; keeps <= KEEPS_NOTHING && !found; keeps++)
        if (!ask(self, target, forms, wanted, (keeping)keeps, &found))
            return false;
    return true;
}

/* ---- targets ---- */

static bool turn_by_match(solving *self, uint32_t target, mr_sign wanted)
{
    const mr_compared *compared = &self->comparisons[target];
    uint64_t step = wanted == MR_SIGN_EQUAL ? 0 : wanted == MR_SIGN_ABOVE ? 1 : UINT64_MAX;
    mr_operand_form forms[FORMS];
    for (int side = 0; side < sides(compared); side++) {
        uint64_t value = compared->numbers[side], other = compared->numbers[1 - side];
        uint32_t count = mr_match_number(input_of(self), value, compared->bytes, forms, FORMS);
        for (uint32_t i = 0; i < count; i++)
            if (!ask_all_ways(self, target, side == 0 ? &forms[i] : NULL,
                              side == 1 ? &forms[i] : NULL, wanted))
                return false;
        if (!mr_replace_number(self->inputs, self->index, value,
                               other + (side == 0 ? step : 0 - step), compared->bytes))
            return false;
    }
    return true;
}

static bool turn_by_probes(solving *self, uint32_t target, mr_sign wanted)
{
    const operand_sums *sums = &self->sums[target];
    return (!sums->known[0] && !sums->known[1]) ||
           ask_all_ways(self, target, sums->known[0] ? &sums->forms[0] : NULL,
                        sums->known[1] ? &sums->forms[1] : NULL, wanted);
}

static bool turn(solving *self, uint32_t target, mr_sign wanted)
{
    const mr_compared *compared = &self->comparisons[target];
    mr_inputs *inputs = self->inputs;
    mr_corpus_stage stage = inputs->corpus[self->index].stage;
    uint64_t key = mr_sign_key(compared, wanted);
    bool combines = stage == MR_STAGE_COMBINED;
    if (self->targets == TARGETS || (!combines && mr_keys_find(&inputs->covered, key)))
        return true;
    if (combines) /* this input alone, once */
        key += 1 + (uint64_t)self->index * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t *attempts = mr_map_at(&inputs->attempts, key, 0);
    if (!attempts)
        return false;
    if (++*attempts > (combines ? 1 : ATTEMPTS))
        return true;
    self->targets++;
    if (stage != MR_STAGE_MATCHED && is_number(compared))
        return turn_by_probes(self, target, wanted);
    return is_number(compared) ? turn_by_match(self, target, wanted)
                               : mr_replace_text(inputs, self->index, compared);
}

static bool turn_all(solving *self)
{
    for (uint32_t at = 0; at < self->count; at++) {
        const mr_compared *compared = &self->comparisons[at];
        mr_sign was = mr_sign_of(compared);
        int last = compared->kind == MR_OPERAND_TEXT   ? MR_SIGN_BELOW
                   : compared->kind == MR_OPERAND_CASE ? MR_SIGN_EQUAL
                                                       : MR_SIGN_ABOVE;
        for (int wanted = MR_SIGN_EQUAL; wanted <= last; wanted++)
            if ((mr_sign)wanted != was && !turn(self, at, (mr_sign)wanted))
                return false;
    }
    return true;
}

bool mr_inputs_solve(mr_inputs *inputs, uint32_t index)
{
    const mr_corpus_input *input = &inputs->corpus[index];
    solving self = {.inputs = inputs,
                    .index = index,
                    .comparisons = input->comparisons,
                    .count = input->comparison_count};
    MR_ASSERT(input->stage != MR_STAGE_PROBING && input->stage != MR_STAGE_DONE);
    self.sums = mr_calloc(self.count + 1, sizeof *self.sums);
    self.touched = mr_calloc(input->bytes.size + 1, 1);
    bool done = self.sums && self.touched;
    if (done && input->stage == MR_STAGE_MATCHED)
        know_by_match(&self);
    else if (done)
        know_by_probes(&self);
    done = done && turn_all(&self);
    mr_byte_question_free(&self.question);
    free(self.sums);
    free(self.touched);
    return done;
}
