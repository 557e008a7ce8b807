#include "listing.h"

#include "base/keys.h"
#include "base/memory.h"
#include "baseline.h"
#include "trace/stacks.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- digests ---- */

static uint64_t mix(uint64_t seed, const char *text, size_t length)
{
    return XXH3_64bits_withSeed(text, length, seed + length + 1);
}

/* The name of a variable, with "[]" for every index of an array. */
static uint64_t mix_subject(uint64_t seed, const char *name)
{
    char kept[256];
    size_t used = 0;
    for (size_t i = 0; name[i] != '\0' && used + 1 < sizeof kept; i++) {
        kept[used++] = name[i];
        if (name[i] == '[')
            i += strspn(name + i + 1, "0123456789");
    }
    return mix(seed, kept, used);
}

static uint64_t mix_file(uint64_t seed, const char *place, size_t length)
{
    mr_place parsed = mr_place_parse(place, length);
    return mix(seed, parsed.file, parsed.file_length);
}

/* The code of an access: of its functions, those that `depth` frames name, and the file. */
static uint64_t digest_code(const mr_trace *trace, uint32_t event, int depth, bool whole_place)
{
    uint32_t stack = mr_trace_stack(trace, event);
    const char *place = mr_names_display(&trace->locations, trace->location[event]);
    if (!stack)
        return whole_place ? mix(1, place, strlen(place)) : mix_file(1, place, strlen(place));
    uint64_t seed = 2;
    for (int i = 0; stack && i < depth; i++, stack = trace->stacks[stack].caller) {
        mr_frame frame = mr_frame_of(&trace->frames.items[trace->stacks[stack].frame]);
        seed = mix(seed, frame.function, frame.function_length);
        if (i == 0)
            seed = mix_file(seed, frame.place, frame.place_length);
    }
    return seed;
}

/* Of two accesses, in any order. */
static uint64_t mix_both(uint64_t seed, uint64_t one, uint64_t two)
{
    uint64_t both[2] = {one < two ? one : two, one < two ? two : one};
    return XXH3_64bits_withSeed(both, sizeof both, seed);
}

enum { FINGERPRINT_DEPTH = 4 };

static uint64_t digest_access(const mr_trace *trace, uint32_t event)
{
    if (event == MR_NONE)
        return 0;
    const char *op = mr_op_name((mr_op)trace->op[event]);
    return mix(digest_code(trace, event, FINGERPRINT_DEPTH, false), op, strlen(op));
}

/* The word of what happened tells apart observed errors in one place. */
static uint64_t head_of(const mr_listed *finding, const mr_listing *all)
{
    const char *word = mr_listed_word(finding->kind);
    if (mr_listed_happened(finding->kind))
        word = mr_misuse_word(all->observed.items[finding->index].kind);
    return mix(0, word, strlen(word));
}

/* Of the waits of a deadlock, in any order, with their locks. */
static uint64_t digest_waits(const mr_witness *witness, const mr_trace *trace, int depth,
                             bool whole_place)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < witness->wait_count; i++) {
        uint32_t wait = witness->waits[i];
        sum += mix_subject(digest_code(trace, wait, depth, whole_place),
                           mr_names_display(&trace->locks, trace->operand[wait]));
    }
    return sum;
}

/* The kind and the variable. */
static uint64_t subject_of(const mr_listed *finding, const mr_listing *all, const mr_trace *trace)
{
    return mix_subject(head_of(finding, all), mr_listed_subject(finding, trace));
}

static uint64_t fingerprint_of(const mr_listed *finding, const mr_listing *all,
                               const mr_trace *trace)
{
    if (finding->kind == MR_LISTED_DEADLOCK)
        return mix_both(head_of(finding, all),
                        digest_waits(finding->witness, trace, FINGERPRINT_DEPTH, false), 0);
    uint64_t seed = subject_of(finding, all, trace);
    return mix_both(seed, digest_access(trace, finding->first),
                    digest_access(trace, finding->second));
}

/* What the findings of a group have in common. Where there are no stacks: their places, or only the files. */
static uint64_t group_of(const mr_listed *finding, const mr_listing *all, const mr_trace *trace,
                         bool whole_place)
{
    const uint32_t first = finding->first, second = finding->second;
    if (finding->kind == MR_LISTED_DEADLOCK)
        return mix_both(head_of(finding, all),
                        digest_waits(finding->witness, trace, 1, whole_place), 0);
    uint64_t seed = subject_of(finding, all, trace);
    uint64_t one = digest_code(trace, first, 1, whole_place);
    uint64_t two = second == MR_NONE ? 0 : digest_code(trace, second, 1, whole_place);
    return mix_both(seed, one, two);
}

/* ---- collecting ---- */

enum { MOST_BADNESS = 7 };

/* What happened is worse than what can happen; a use of freed memory is worse than a lost write, and
 * that is worse than a read of a value that is too old. */
static uint32_t badness_of(const mr_listed *finding, const mr_trace *trace)
{
    uint8_t one = trace->op[finding->first];
    uint8_t two = finding->second == MR_NONE ? one : trace->op[finding->second];
    switch (finding->kind) {
    case MR_LISTED_OBSERVED:
        return 0;
    case MR_LISTED_MISUSE:
        return 1;
    case MR_LISTED_RACE:
        if (finding->confirmed == MR_CONFIRMED_YES && finding->effect)
            return 2;
        if (mr_op_ends_life(one) || mr_op_ends_life(two))
            return 2;
        return mr_op_writes(one) && mr_op_writes(two) ? 5 : 6;
    case MR_LISTED_USE_AFTER_FREE:
    case MR_LISTED_DOUBLE_FREE:
    case MR_LISTED_DANGLING:
        return 2;
    case MR_LISTED_DEADLOCK:
        return 3;
    case MR_LISTED_NULL_POINTER:
        return 4;
    case MR_LISTED_MEMORY_ORDER:
    case MR_LISTED_COUNT:
        break;
    }
    return MOST_BADNESS;
}

static mr_rule_type rule_of(mr_listed_kind kind)
{
    static const mr_rule_type rules[MR_LISTED_COUNT] = {
#define RULE(id, word, noun, rule) [MR_LISTED_##id] = MR_RULE_##rule,
        MR_LISTED_MAP(RULE)
#undef RULE
    };
    return rules[kind];
}

/* Adds the finding unless it is suppressed. */
static bool add(mr_listing *self, const mr_trace *trace, mr_listed finding)
{
    const uint32_t pair[2] = {finding.first, finding.second};
    bool cycle = finding.kind == MR_LISTED_DEADLOCK;
    const mr_suppressed_thing thing = {.type = rule_of(finding.kind),
                                       .events = cycle ? finding.witness->waits : pair,
                                       .count = cycle ? finding.witness->wait_count : 2,
                                       .subject = mr_listed_subject(&finding, trace)};
    mr_suppression *rule = mr_suppressions_find(&self->suppressions, trace, &thing);
    if (rule) {
        rule->count++;
        self->suppressed_count++;
        self->suppressed_by_program += rule->line == 0;
        return true;
    }
    if (!mr_grow((void **)&self->items, &self->capacity, self->count + 1, sizeof *self->items))
        return false;
    finding.badness = badness_of(&finding, trace);
    finding.fingerprint = fingerprint_of(&finding, self, trace);
    self->items[self->count++] = finding;
    return true;
}

/* What is found beside races; the answer to `sees` is no finding. */
static bool collect_findings(mr_listing *self, const mr_trace *trace, const mr_result *result)
{
    static const mr_listed_kind kinds[MR_WITNESS_KINDS] = {
        [MR_WITNESS_USE_AFTER_FREE] = MR_LISTED_USE_AFTER_FREE,
        [MR_WITNESS_DEADLOCK] = MR_LISTED_DEADLOCK,
        [MR_WITNESS_NULL] = MR_LISTED_NULL_POINTER,
        [MR_WITNESS_DANGLING] = MR_LISTED_DANGLING,
        [MR_WITNESS_DOUBLE_FREE] = MR_LISTED_DOUBLE_FREE};
    size_t numbers[MR_WITNESS_KINDS] = {0};
    for (size_t i = 0; i < result->finding_count; i++) {
        const mr_witness *witness = &result->findings[i].witness;
        bool turned = witness->kind != MR_WITNESS_DEADLOCK;
        mr_listed finding = {.kind = kinds[witness->kind],
                             .first = turned ? witness->second : witness->first,
                             .second = turned ? witness->first : witness->second,
                             .index = i,
                             .number = ++numbers[witness->kind],
                             .witness = witness,
                             .confirmed = result->findings[i].confirmed,
                             .effect = result->findings[i].effect};
        if (witness->kind != MR_WITNESS_SEES && !add(self, trace, finding))
            return false;
    }
    return true;
}

mr_listed mr_listed_observed(const mr_observed *observed, size_t index)
{
    bool memory =
        observed->kind == MR_MISUSE_USE_AFTER_FREE || observed->kind == MR_MISUSE_DOUBLE_FREE;
    return (mr_listed){.kind = memory ? MR_LISTED_OBSERVED : MR_LISTED_MISUSE,
                       .first = observed->event,
                       .second = observed->other,
                       .index = index,
                       .number = index + 1};
}

static bool collect(mr_listing *self, const mr_trace *trace, const mr_result *result)
{
    if (!mr_observed_find(&self->observed, trace))
        return false;
    for (size_t i = 0; i < self->observed.count; i++) {
        if (!add(self, trace, mr_listed_observed(&self->observed.items[i], i)))
            return false;
    }
    for (size_t i = 0; i < result->race_count; i++) {
        const mr_witness *witness = &result->races[i].witness;
        mr_listed finding = {.kind = witness->kind == MR_WITNESS_MEMORY_ORDER
                                         ? MR_LISTED_MEMORY_ORDER
                                         : MR_LISTED_RACE,
                             .first = witness->first,
                             .second = witness->second,
                             .index = i,
                             .number = i + 1,
                             .witness = witness,
                             .confirmed = result->races[i].confirmed,
                             .effect = result->races[i].effect};
        if (!add(self, trace, finding))
            return false;
    }
    return collect_findings(self, trace, result);
}

/* ---- order and groups ---- */

/* Sorts `from`, a list of items, by their keys, which are less than `keys`, into `to`. Items with the same key stay in their order. */
static bool sort_by_key(const size_t *from, size_t *to, const uint32_t *key, size_t count,
                        size_t keys)
{
    size_t *next = mr_calloc(keys + 1, sizeof *next);
    if (!next)
        return false;
    for (size_t i = 0; i < count; i++)
        next[key[i] + 1]++;
    for (size_t k = 1; k < keys; k++)
        next[k] += next[k - 1];
    for (size_t i = 0; i < count; i++)
        to[next[key[from[i]]]++] = from[i];
    free(next);
    return true;
}

/* What make_groups needs while it does. By item: */
typedef struct sorter {
    size_t *order, *other;
    uint32_t *key;
    mr_keys groups; /* digests of what a group has in common, in the order of the worst of each */
} sorter;

/* Sorts the items so that groups stand together, in the order of their worst; in a group the worst is the first. Their keys
 * are their groups then. Items of one kind are in the order of their index from the beginning. */
static bool sort_items(sorter *sort, const mr_listing *self, const mr_trace *trace)
{
    uint32_t number;
    for (size_t i = 0; i < self->count; i++) {
        sort->other[i] = i;
        sort->key[i] = self->items[i].badness * MR_LISTED_COUNT + self->items[i].kind;
    }
    if (!sort_by_key(sort->other, sort->order, sort->key, self->count,
                     (size_t)(MOST_BADNESS + 1) * MR_LISTED_COUNT))
        return false;
    for (size_t i = 0; i < self->count; i++) {
        size_t item = sort->order[i];
        if (!mr_keys_add(&sort->groups, group_of(&self->items[item], self, trace, true), &number))
            return false;
        sort->key[item] = number - 1;
    }
    memcpy(sort->other, sort->order, self->count * sizeof *sort->order);
    return sort_by_key(sort->other, sort->order, sort->key, self->count, sort->groups.count);
}

static bool make_groups(mr_listing *self, const mr_trace *trace)
{
    sorter sort = {.order = mr_calloc(self->count + 1, sizeof *sort.order),
                   .other = mr_calloc(self->count + 1, sizeof *sort.other),
                   .key = mr_calloc(self->count + 1, sizeof *sort.key)};
    mr_listed *items = mr_calloc(self->count + 1, sizeof *items);
    self->groups = mr_calloc(self->count + 1, sizeof *self->groups);
    bool ok = sort.order && sort.other && sort.key && items && self->groups &&
              sort_items(&sort, self, trace);
    for (size_t i = 0; ok && i < self->count; i++) {
        items[i] = self->items[sort.order[i]];
        if (i == 0 || sort.key[sort.order[i]] != sort.key[sort.order[i - 1]])
            self->groups[self->group_count++] = (mr_listed_group){
                .first = i, .fingerprint = group_of(&items[i], self, trace, false)};
        self->groups[self->group_count - 1].count++;
    }
    if (ok) {
        mr_listed *before = self->items;
        self->items = items;
        self->capacity = self->count + 1;
        items = before;
    }
    free(items);
    free(sort.order);
    free(sort.other);
    free(sort.key);
    mr_keys_free(&sort.groups);
    return ok;
}

typedef struct ranked {
    uint64_t subject;
    size_t group;
} ranked;

static int compare_ranked(const void *one, const void *two)
{
    const ranked *a = one, *b = two;
    if (a->subject != b->subject)
        return a->subject < b->subject ? -1 : 1;
    return (a->group > b->group) - (a->group < b->group);
}

/* Counts the groups on the same variable before and behind each group. */
static bool rank_groups(mr_listing *self, const mr_trace *trace)
{
    size_t count = self->group_count;
    ranked *order = mr_calloc(count + 1, sizeof *order);
    if (!order)
        return false;
    for (size_t i = 0; i < count; i++)
        order[i] = (ranked){subject_of(&self->items[self->groups[i].first], self, trace), i};
    qsort(order, count, sizeof *order, compare_ranked);
    for (size_t i = 1; i < count; i++)
        if (order[i].subject == order[i - 1].subject)
            self->groups[order[i].group].rank = self->groups[order[i - 1].group].rank + 1;
    for (size_t i = count; i-- > 1;) {
        const mr_listed_group *next = &self->groups[order[i].group];
        mr_listed_group *group = &self->groups[order[i - 1].group];
        if (next->rank == 0)
            continue;
        group->groups_behind = next->groups_behind + 1;
        group->findings_behind = next->findings_behind + next->count;
    }
    free(order);
    return true;
}

/* Finds the finding of each race and of each observed error. */
static bool make_index(mr_listing *self, const mr_result *result)
{
    self->of_race = mr_calloc(result->race_count + 1, sizeof *self->of_race);
    self->of_observed = mr_calloc(self->observed.count + 1, sizeof *self->of_observed);
    self->of_finding = mr_calloc(result->finding_count + 1, sizeof *self->of_finding);
    if (!self->of_race || !self->of_observed || !self->of_finding)
        return false;
    for (size_t i = 0; i < self->count; i++) {
        const mr_listed *finding = &self->items[i];
        const mr_listed **of = mr_listed_happened(finding->kind)         ? self->of_observed
                               : finding->kind <= MR_LISTED_MEMORY_ORDER ? self->of_race
                                                                         : self->of_finding;
        of[finding->index] = finding;
    }
    return true;
}

/* ---- the whole ---- */

static void mark_known(mr_listing *self, const mr_baseline *baseline)
{
    for (size_t i = 0; i < self->count; i++) {
        self->items[i].known = mr_baseline_has(baseline, self->items[i].fingerprint);
        self->known_count += self->items[i].known;
    }
}

mr_status mr_listing_count(mr_listing *self, const mr_trace *trace, const mr_config *config,
                           const mr_result *result, mr_error *error)
{
    const char *baseline_file = mr_config_text(config, "baseline");
    mr_baseline baseline = {0};
    *self = (mr_listing){.has_baseline = baseline_file[0] != '\0'};
    mr_status status =
        mr_suppressions_read(&self->suppressions, mr_config_text(config, "suppressions"), error);
    if (status == MR_OK && !mr_suppressions_add_own(&self->suppressions, &trace->ending))
        status = mr_error_memory(error, "reading suppressions");
    if (status == MR_OK && self->has_baseline)
        status = mr_baseline_read(&baseline, baseline_file, error);
    if (status == MR_OK && !collect(self, trace, result))
        status = mr_error_memory(error, "listing the findings");
    if (status == MR_OK)
        mark_known(self, &baseline);
    mr_baseline_free(&baseline);
    return status;
}

mr_status mr_listing_make(mr_listing *self, const mr_trace *trace, const mr_config *config,
                          const mr_result *result, mr_error *error)
{
    mr_status status = mr_listing_count(self, trace, config, result, error);
    if (status == MR_OK &&
        !(make_groups(self, trace) && rank_groups(self, trace) && make_index(self, result)))
        status = mr_error_memory(error, "listing the findings");
    return status;
}

void mr_listing_free(mr_listing *self)
{
    mr_observed_free(&self->observed);
    mr_suppressions_free(&self->suppressions);
    free(self->items);
    free(self->groups);
    free(self->of_race);
    free(self->of_observed);
    free(self->of_finding);
    *self = (mr_listing){0};
}

mr_status mr_listing_check(const mr_config *config, mr_error *error)
{
    const char *file = mr_config_text(config, "baseline");
    mr_suppressions suppressions;
    mr_baseline baseline = {0};
    mr_status status =
        mr_suppressions_read(&suppressions, mr_config_text(config, "suppressions"), error);
    if (status == MR_OK && file[0] != '\0')
        status = mr_baseline_read(&baseline, file, error);
    mr_suppressions_free(&suppressions);
    mr_baseline_free(&baseline);
    return status;
}

bool mr_listing_fail(const mr_listing *self, const mr_config *config)
{
    switch ((mr_fail_on)mr_config_choice(config, "fail_on")) {
    case MR_FAIL_ON_ANY:
    case MR_FAIL_ON_UNKNOWN:
        return self->count > 0;
    case MR_FAIL_ON_NEW:
        return self->count > self->known_count;
    case MR_FAIL_ON_NONE:
        break;
    }
    return false;
}
