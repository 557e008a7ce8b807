#include "inputs_state.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { DEFAULT_BYTES = 4096, PROBES = 256, WORDS = 512, WORD_COMPARISONS = 256 };

const char *mr_input_why_name(mr_input_why why)
{
    static const char *const names[] = {
#define WHY_NAME(name, text) text,
        MR_INPUT_WHY_MAP(WHY_NAME)
#undef WHY_NAME
    };
    return names[why];
}

mr_inputs *mr_inputs_new(const mr_inputs_settings *settings)
{
    mr_inputs *inputs = mr_calloc(1, sizeof *inputs);
    if (!inputs)
        return NULL;
    inputs->settings = *settings;
    inputs->random = settings->seed;
    if (!inputs->settings.most_bytes)
        inputs->settings.most_bytes = DEFAULT_BYTES;
    return inputs;
}

void mr_inputs_free(mr_inputs *inputs)
{
    if (!inputs)
        return;
    for (size_t i = 0; i < inputs->try_count; i++)
        free(inputs->tries[i].bytes.items);
    for (size_t i = 0; i < inputs->corpus_count; i++) {
        free(inputs->corpus[i].bytes.items);
        free(inputs->corpus[i].comparisons);
        free(inputs->corpus[i].dependences);
    }
    for (size_t i = 0; i < inputs->word_count; i++)
        free(inputs->words[i].items);
    free(inputs->tries);
    free(inputs->corpus);
    free(inputs->words);
    mr_keys_free(&inputs->known);
    mr_keys_free(&inputs->covered);
    mr_keys_free(&inputs->word_hashes);
    mr_map_free(&inputs->attempts);
    free(inputs);
}

/* ---- what a comparison showed ---- */

static bool texts_are_equal(const mr_compared *compared)
{
    return compared->numbers[0] == compared->numbers[1] && compared->bytes == compared->other &&
           memcmp(compared->texts[0], compared->texts[1], compared->bytes) == 0;
}

mr_sign mr_sign_of(const mr_compared *compared)
{
    uint64_t a = compared->numbers[0], b = compared->numbers[1];
    if (compared->kind == MR_OPERAND_TEXT)
        return texts_are_equal(compared) ? MR_SIGN_EQUAL : MR_SIGN_BELOW;
    if (a == b)
        return MR_SIGN_EQUAL;
    /* Of a case only that it is another one counts. */
    return a < b || compared->kind == MR_OPERAND_CASE ? MR_SIGN_BELOW : MR_SIGN_ABOVE;
}

/* Of the cases of a switch, and of texts, the other operand counts, too: one place has many. */
uint64_t mr_sign_key(const mr_compared *compared, mr_sign outcome)
{
    uint64_t parts[3] = {compared->place, (uint64_t)outcome, 0};
    if (compared->kind == MR_OPERAND_CASE)
        parts[2] = compared->numbers[1];
    if (compared->kind == MR_OPERAND_TEXT)
        parts[2] = XXH3_64bits(compared->texts[1], compared->other);
    return XXH3_64bits(parts, sizeof parts) & ~UINT64_C(3);
}

/* ---- inputs that wait ---- */

static bool copy_bytes(mr_input_bytes *copy, const uint8_t *bytes, size_t size)
{
    copy->items = mr_malloc(1, size);
    copy->size = size;
    if (copy->items && size > 0)
        memcpy(copy->items, bytes, size);
    return copy->items != NULL;
}

bool mr_inputs_offer(mr_inputs *inputs, const uint8_t *bytes, size_t size, mr_input_why why,
                     uint32_t parent, uint32_t probe)
{
    void *tries = inputs->tries;
    uint32_t before = inputs->known.count, number;
    mr_pending_input item = {.why = why, .parent = parent, .probe = probe};
    if (size > inputs->settings.most_bytes)
        size = inputs->settings.most_bytes;
    if (!mr_keys_add(&inputs->known, XXH3_64bits(bytes, size), &number))
        return false;
    if (inputs->known.count == before)
        return true;
    if (!mr_grow(&tries, &inputs->try_capacity, inputs->try_count + 1, sizeof *inputs->tries))
        return false;
    inputs->tries = tries;
    if (!copy_bytes(&item.bytes, bytes, size))
        return false;
    inputs->tries[inputs->try_count++] = item;
    return true;
}

bool mr_inputs_add(mr_inputs *inputs, const uint8_t *bytes, size_t size)
{
    return mr_inputs_offer(inputs, bytes, size, MR_INPUT_WHY_GIVEN, MR_NO_INPUT, 0);
}

/* By what a probe changes a byte: what is a digit or a letter stays one. */
static int step_of(uint8_t byte)
{
    return byte == '9' || byte == 'z' || byte == 'Z' || byte == UINT8_MAX ? -1 : 1;
}

static bool probe(mr_inputs *inputs, uint32_t index)
{
    mr_corpus_input *input = &inputs->corpus[index];
    uint32_t at = input->next_probe++;
    size_t before = inputs->try_count;
    mr_input_bytes copy;
    if (!copy_bytes(&copy, input->bytes.items, input->bytes.size))
        return false;
    copy.items[at] = (uint8_t)(copy.items[at] + step_of(copy.items[at]));
    bool done = mr_inputs_offer(inputs, copy.items, copy.size, MR_INPUT_WHY_PROBED, index, at);
    free(copy.items);
    input->probes_out += (uint32_t)(inputs->try_count - before);
    return done;
}

/* Does the next thing that is to be done with the input. `*waits`: its probes are out. */
static bool advance(mr_inputs *inputs, uint32_t index, bool *waits)
{
    mr_corpus_input *input = &inputs->corpus[index];
    size_t probes = input->bytes.size < PROBES ? input->bytes.size : PROBES;
    bool done = true;
    *waits = false;
    switch (input->stage) {
    case MR_STAGE_MATCHED:
        done = !inputs->settings.solves || mr_inputs_solve(inputs, index);
        input = &inputs->corpus[index];
        input->stage = inputs->settings.solves && input->comparison_count > 0 ? MR_STAGE_PROBING
                                                                              : MR_STAGE_DONE;
        break;
    case MR_STAGE_PROBING:
        if (input->next_probe < probes)
            return probe(inputs, index);
        *waits = input->probes_out > 0;
        if (!*waits)
            input->stage = MR_STAGE_PROBED;
        break;
    case MR_STAGE_PROBED:
    case MR_STAGE_COMBINED:
        done = mr_inputs_solve(inputs, index);
        inputs->corpus[index].stage++;
        break;
    case MR_STAGE_DONE:
        break;
    }
    return done;
}

/* The newest input below this index that is before the stage, or MR_NO_INPUT. */
static uint32_t next_unfinished(const mr_inputs *inputs, mr_corpus_stage stage, uint32_t below)
{
    while (below-- > 0)
        if (inputs->corpus[below].stage < stage)
            return below;
    return MR_NO_INPUT;
}

/* Goes on with inputs before the stage until something waits. */
static bool go_on(mr_inputs *inputs, mr_corpus_stage stage)
{
    bool waits;
    uint32_t index = (uint32_t)inputs->corpus_count;
    while (inputs->given == inputs->try_count &&
           (index = next_unfinished(inputs, stage, index)) != MR_NO_INPUT) {
        do {
            if (!advance(inputs, index, &waits))
                return false;
        } while (!waits && inputs->given == inputs->try_count &&
                 inputs->corpus[index].stage < stage);
    }
    return true;
}

/* That which was mutated least, the newest of these. */
static uint32_t next_to_mutate(const mr_inputs *inputs)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < inputs->corpus_count; i++)
        if (inputs->corpus[i].mutations <= inputs->corpus[best].mutations)
            best = i;
    return best;
}

/* Makes something that waits, as long as there is a way. */
static bool make_more(mr_inputs *inputs)
{
    enum { MUTATIONS = 1000 }; /* that may all have been there before */
    if (!go_on(inputs, MR_STAGE_COMBINED) || !go_on(inputs, MR_STAGE_DONE))
        return false;
    for (int i = 0; inputs->settings.mutates && inputs->corpus_count > 0 && i < MUTATIONS &&
                    inputs->given == inputs->try_count;
         i++) {
        uint32_t index = next_to_mutate(inputs);
        inputs->corpus[index].mutations++;
        if (!mr_inputs_mutate(inputs, index))
            return false;
    }
    return true;
}

static mr_input_try describe(const mr_inputs *inputs, uint32_t number)
{
    const mr_pending_input *item = &inputs->tries[number];
    uint32_t parent = MR_NO_INPUT;
    if (item->parent != MR_NO_INPUT)
        parent = inputs->corpus[item->parent].number;
    return (mr_input_try){number, item->bytes.items, item->bytes.size, item->why, parent};
}

bool mr_inputs_next(mr_inputs *inputs, mr_input_try *next)
{
    if (inputs->given == inputs->try_count && !make_more(inputs))
        return false;
    if (inputs->given == inputs->try_count)
        return false;
    *next = describe(inputs, inputs->given++);
    return true;
}

/* ---- what came of them ---- */

/* What the program compared with is worth putting into inputs. */
static bool add_word(mr_inputs *inputs, const void *bytes, size_t size)
{
    void *words = inputs->words;
    uint32_t before = inputs->word_hashes.count, number;
    if (size == 0 || inputs->word_count == WORDS)
        return true;
    if (!mr_keys_add(&inputs->word_hashes, XXH3_64bits(bytes, size), &number))
        return false;
    if (inputs->word_hashes.count == before)
        return true;
    if (!mr_grow(&words, &inputs->word_capacity, inputs->word_count + 1, sizeof *inputs->words))
        return false;
    inputs->words = words;
    if (!copy_bytes(&inputs->words[inputs->word_count], bytes, size))
        return false;
    inputs->word_count++;
    return true;
}

static bool add_words(mr_inputs *inputs, const mr_compared *compared)
{
    const size_t sizes[2] = {compared->bytes, compared->other};
    if (compared->kind != MR_OPERAND_TEXT)
        return compared->kind == MR_OPERAND_COMPARED || compared->numbers[1] < 2 ||
               add_word(inputs, &compared->numbers[1], compared->bytes);
    for (int side = 0; side < 2; side++) {
        const uint8_t *text = compared->texts[side];
        size_t size = sizes[side];
        if (size > 0 && text[size - 1] == '\0') /* a text with its end */
            size--;
        if (!add_word(inputs, text, size))
            return false;
    }
    return true;
}

/* Adds a key; *news counts those that were not there. */
static bool cover(mr_inputs *inputs, uint64_t key, uint32_t *news)
{
    uint32_t before = inputs->covered.count, number;
    if (!mr_keys_add(&inputs->covered, key, &number))
        return false;
    *news += inputs->covered.count - before;
    return true;
}

static bool cover_all(mr_inputs *inputs, const mr_input_seen *seen, uint32_t *news)
{
    for (size_t i = 0; i < seen->key_count; i++)
        if (!cover(inputs, seen->keys[i] | 1, news))
            return false;
    for (size_t i = 0; i < seen->comparison_count; i++) {
        const mr_compared *compared = &seen->comparisons[i];
        uint32_t before = *news;
        if (!cover(inputs, mr_sign_key(compared, mr_sign_of(compared)), news) ||
            (*news > before && !add_words(inputs, compared)))
            return false;
    }
    return true;
}

/* Goes over the comparisons of a thread. Two runs have the same comparison where all before it in the
 * thread are at the same places. */
typedef struct walker {
    const mr_compared *items;
    size_t count, at;
} walker;

static const mr_compared *next_of(walker *self, uint32_t thread)
{
    while (self->at < self->count && self->items[self->at].thread != thread)
        self->at++;
    return self->at < self->count ? &self->items[self->at++] : NULL;
}

static bool note_change(mr_corpus_input *input, uint32_t comparison, uint32_t at,
                        const mr_compared *changed)
{
    const mr_compared *compared = &input->comparisons[comparison];
    uint64_t step = (uint64_t)step_of(input->bytes.items[at]);
    mr_dependence item = {comparison,
                          at,
                          {step * (changed->numbers[0] - compared->numbers[0]),
                           step * (changed->numbers[1] - compared->numbers[1])}};
    void *items = input->dependences;
    if (compared->kind == MR_OPERAND_TEXT || (!item.change[0] && !item.change[1]) ||
        input->dependence_count == MR_DEPENDENCES_MAX)
        return true;
    if (!mr_grow(&items, &input->dependence_capacity, input->dependence_count + 1, sizeof item))
        return false;
    input->dependences = items;
    input->dependences[input->dependence_count++] = item;
    return true;
}

/* Compares the run of a probe with that of its parent, thread by thread, as far as they are alike. */
static bool learn_from_probe(mr_corpus_input *input, uint32_t at, const mr_input_seen *seen)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < input->comparison_count; i++)
        if (input->comparisons[i].thread > most)
            most = input->comparisons[i].thread;
    for (uint32_t thread = 0; thread <= most; thread++) {
        walker old = {input->comparisons, input->comparison_count, 0};
        walker new = {seen->comparisons, seen->comparison_count, 0};
        const mr_compared *one = next_of(&old, thread), *two = next_of(&new, thread);
        for (; one && two && one->place == two->place && one->kind == two->kind;
             one = next_of(&old, thread), two = next_of(&new, thread))
            if (!note_change(input, (uint32_t)(one - input->comparisons), at, two))
                return false;
    }
    return true;
}

static bool keep(mr_inputs *inputs, uint32_t number, const mr_input_seen *seen)
{
    const mr_pending_input *item = &inputs->tries[number];
    void *corpus = inputs->corpus;
    size_t count = seen->comparison_count < MR_INPUTS_COMPARISONS ? seen->comparison_count
                                                                  : MR_INPUTS_COMPARISONS;
    mr_corpus_input input = {.number = number,
                             .bytes = item->bytes,
                             .why = item->why,
                             .parent = describe(inputs, number).parent,
                             .comparison_count = (uint32_t)count};
    if (!mr_grow(&corpus, &inputs->corpus_capacity, inputs->corpus_count + 1,
                 sizeof *inputs->corpus))
        return false;
    inputs->corpus = corpus;
    input.comparisons = mr_calloc(count + 1, sizeof *input.comparisons);
    if (!input.comparisons)
        return false;
    if (count > 0)
        memcpy(input.comparisons, seen->comparisons, count * sizeof *input.comparisons);
    inputs->corpus[inputs->corpus_count++] = input;
    inputs->tries[number].bytes.items = NULL; /* the corpus owns them now */
    return true;
}

bool mr_inputs_feedback(mr_inputs *inputs, uint32_t number, const mr_input_seen *seen, bool *is_new)
{
    MR_REQUIRE(number < inputs->given && inputs->tries[number].bytes.items);
    const mr_pending_input *item = &inputs->tries[number];
    uint32_t news = 0;
    *is_new = false;
    if (item->why == MR_INPUT_WHY_PROBED) {
        mr_corpus_input *parent = &inputs->corpus[item->parent];
        parent->probes_out--;
        if (parent->stage == MR_STAGE_PROBING && !learn_from_probe(parent, item->probe, seen))
            return false;
    }
    if (!cover_all(inputs, seen, &news))
        return false;
    if (news > 0 || inputs->corpus_count == 0) {
        *is_new = true;
        return keep(inputs, number, seen);
    }
    free(inputs->tries[number].bytes.items);
    inputs->tries[number].bytes.items = NULL;
    return true;
}

uint32_t mr_inputs_corpus_count(const mr_inputs *inputs)
{
    return (uint32_t)inputs->corpus_count;
}

mr_input_try mr_inputs_corpus_at(const mr_inputs *inputs, uint32_t index)
{
    MR_REQUIRE(index < inputs->corpus_count);
    const mr_corpus_input *input = &inputs->corpus[index];
    return (mr_input_try){input->number, input->bytes.items, input->bytes.size, input->why,
                          input->parent};
}
