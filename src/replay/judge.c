#include "judge.h"

#include "base/memory.h"
#include "runtime/inputs_format.h"
#include "trace/address_name.h"
#include "trace/observed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *mr_effect_text(mr_effect effect)
{
    static const char *const texts[] = {
        "crashes",    "deadlocks", "changes the output", "changes state", "no visible effect seen",
        "not reached"};
    return texts[effect];
}

const char *mr_effect_name(mr_effect effect)
{
    static const char *const names[] = {"crashes", "deadlocks", "output",
                                        "state",   "none",      "unknown"};
    return names[effect];
}

void mr_run_end_free(mr_run_end *end)
{
    for (size_t i = 0; i < end->last_count; i++) {
        free(end->last[i].name);
        free(end->last[i].text);
    }
    free(end->last);
    free(end->output);
    free(end->errors);
    mr_changes_free(&end->changes);
    *end = (mr_run_end){.is_there = false};
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const mr_last_value *)a)->name, ((const mr_last_value *)b)->name);
}

static bool begins_with(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

/* Is it a variable of the program, and its name the same in every run? */
static bool is_lasting(const char *name)
{
    return !strstr(name, "stack-") && !strchr(name, '#') && !strstr(name, "+0x") &&
           !begins_with(name, "descriptor.") && !begins_with(name, "channel.");
}

static bool take_value(mr_run_end *end, const mr_trace *trace, uint32_t variable, int64_t value)
{
    char buffer[MR_TYPED_VALUE_BYTES];
    const char *name = mr_names_display(&trace->variables, variable);
    const char *text = mr_trace_value_text(trace, variable, value, buffer);
    mr_last_value *last = &end->last[end->last_count++];
    *last = (mr_last_value){mr_strndup(name, strlen(name)), mr_strndup(text, strlen(text)), value};
    return last->name && last->text;
}

bool mr_run_end_take(mr_run_end *end, const mr_trace *trace)
{
    uint32_t variables = trace->variables.count;
    uint32_t *last = mr_calloc(variables + 1ull, sizeof *last);
    end->last = mr_calloc(variables + 1ull, sizeof *end->last);
    bool ok = last && end->last;
    for (uint32_t event = 0; ok && event < trace->event_count; event++)
        if (mr_op_writes(trace->op[event]) && mr_op_is_access(trace->op[event]))
            last[trace->operand[event]] = mr_trace_written_value(trace, event);
    for (uint32_t i = 0; ok && i < variables; i++) {
        const char *name = mr_names_display(&trace->variables, i);
        if (last[i] && is_lasting(name))
            ok = take_value(end, trace, i, trace->values[last[i]]);
    }
    free(last);
    if (!ok)
        return false;
    qsort(end->last, end->last_count, sizeof *end->last, by_name);
    mr_observed_list list = {.count = 0};
    ok = mr_observed_find(&list, trace);
    end->errors_observed = (uint32_t)list.count;
    end->has_values = ok;
    mr_observed_free(&list);
    return ok;
}

/* The first line in which two texts differ, without those of maxrace itself. */
static bool differ(const char *a, const char *b, char *left, char *right, size_t room)
{
    const char *own = "maxrace: ";
    a = a ? a : "";
    b = b ? b : "";
    while (*a || *b) {
        size_t a_length = strcspn(a, "\n"), b_length = strcspn(b, "\n");
        if (!strncmp(a, own, strlen(own))) {
            a += a_length + (a[a_length] != '\0');
        } else if (!strncmp(b, own, strlen(own))) {
            b += b_length + (b[b_length] != '\0');
        } else if (a_length != b_length || memcmp(a, b, a_length) != 0 || !*a != !*b) {
            snprintf(left, room, "%.*s", (int)a_length, a);
            snprintf(right, room, "%.*s", (int)b_length, b);
            return true;
        } else {
            a += a_length + (a[a_length] != '\0');
            b += b_length + (b[b_length] != '\0');
        }
    }
    return false;
}

bool mr_run_end_writes_same(const mr_run_end *a, const mr_run_end *b)
{
    char left[2], right[2];
    return !differ(a->output, b->output, left, right, sizeof left) &&
           !differ(a->errors, b->errors, left, right, sizeof left);
}

static const char *const orders[] = {"as recorded", "with the first access first",
                                     "with the second access first"};

/* "'1'", "removed", "as before", what a file has in the first line that is not the same. */
static void describe_change(const mr_change *change, const char *line, char *text, size_t room)
{
    if (change && change->kind != MR_CHANGE_REMOVED && change->text)
        snprintf(text, room, "'%s'", line);
    else
        snprintf(text, room, "%s", change ? mr_change_name(change->kind) : "as it was");
}

/* Have the two runs written something else to a file? `text` says what. */
static bool write_other_files(const mr_run_end *a, const char *a_name, const mr_run_end *b,
                              const char *b_name, const mr_changes *varying, char *text)
{
    enum { LINE = 100 };
    char left[LINE] = "", right[LINE] = "", before[LINE + 16], after[LINE + 16];
    const mr_change *one, *other;
    const char *path = mr_changes_differ(&a->changes, &b->changes, varying, &one, &other);
    if (!path)
        return false;
    differ(one ? one->text : NULL, other ? other->text : NULL, left, right, LINE);
    describe_change(one, left, before, sizeof before);
    describe_change(other, right, after, sizeof after);
    snprintf(text, MR_EVIDENCE_BYTES, "file %.150s: %s %s, %s %s", path, before, a_name, after,
             b_name);
    return true;
}

/* What two runs show that differs; `text` says it. `recorded` says what varies. */
static mr_effect compare(const mr_run_end *a, const char *a_name, const mr_run_end *b,
                         const char *b_name, const mr_run_end *recorded, char *text)
{
    enum { LINE = 120 };
    char left[LINE], right[LINE];
    if (a->exit_status != b->exit_status && !a->starved && !b->starved) {
        snprintf(text, MR_EVIDENCE_BYTES, "exit status %d %s, %d %s", a->exit_status, a_name,
                 b->exit_status, b_name);
        return MR_EFFECT_OUTPUT;
    }
    if (!recorded->output_varies && !a->starved && !b->starved &&
        (differ(a->output, b->output, left, right, LINE) ||
         differ(a->errors, b->errors, left, right, LINE))) {
        snprintf(text, MR_EVIDENCE_BYTES, "'%s' %s, '%s' %s", left, a_name, right, b_name);
        return MR_EFFECT_OUTPUT;
    }
    if (!a->starved && !b->starved &&
        write_other_files(a, a_name, b, b_name, &recorded->changes, text))
        return MR_EFFECT_OUTPUT;
    if (!a->has_values || !b->has_values)
        return MR_EFFECT_NONE;
    for (size_t i = 0, j = 0; i < a->last_count && j < b->last_count;) {
        int order = strcmp(a->last[i].name, b->last[j].name);
        if (order == 0 && !mr_address_is_same(a->last[i].value, b->last[j].value)) {
            snprintf(text, MR_EVIDENCE_BYTES, "the last value of %.80s is %s %s, %s %s",
                     a->last[i].name, a->last[i].text, a_name, b->last[j].text, b_name);
            return MR_EFFECT_STATE;
        }
        i += order <= 0;
        j += order >= 0;
    }
    if (a->errors_observed != b->errors_observed) {
        snprintf(text, MR_EVIDENCE_BYTES, "%u error%s of memory or locks %s, %u %s",
                 a->errors_observed, a->errors_observed == 1 ? "" : "s", a_name, b->errors_observed,
                 b_name);
        return MR_EFFECT_STATE;
    }
    return MR_EFFECT_NONE;
}

static bool crashes(const mr_run_end *end, const char *name, char *text)
{
    if (!end->is_there || !end->signal || end->timed_out || end->starved)
        return false;
    const char *said = end->errors && strncmp(end->errors, "maxrace: ", 9) != 0 ? end->errors : "";
    snprintf(text, MR_EVIDENCE_BYTES, "signal %d (%s) %s%s%.*s%s", end->signal,
             strsignal(end->signal), name, *said ? ": '" : "", (int)strcspn(said, "\n"), said,
             *said ? "'" : "");
    return true;
}

static bool deadlocks(const mr_run_end *end, const char *name, char *text)
{
    if (!end->is_there || (!end->deadlocked && !end->timed_out))
        return false;
    snprintf(text, MR_EVIDENCE_BYTES, "%s %s",
             end->deadlocked ? "all threads wait for each other" : "it does not end in time", name);
    return true;
}

bool mr_run_end_is_refused(const char *errors)
{
    static const char said[] = "maxrace: " MR_INPUTS_REFUSED;
    const char *at = errors ? strstr(errors, said) : NULL;
    while (at && at != errors && at[-1] != '\n')
        at = strstr(at + 1, said);
    return at != NULL;
}

mr_effect mr_judge(const mr_run_end *recorded, const mr_run_end *first, const mr_run_end *second,
                   char *evidence)
{
    evidence[0] = '\0';
    if (!first->is_there || !second->is_there)
        return MR_EFFECT_UNKNOWN;
    if (first->refused || second->refused) {
        snprintf(evidence, MR_EVIDENCE_BYTES,
                 "not known: %s, files could not be changed as in the recording (standard error "
                 "says which)",
                 orders[first->refused ? 1 : 2]);
        return MR_EFFECT_UNKNOWN;
    }
    if (crashes(first, orders[1], evidence) || crashes(second, orders[2], evidence))
        return MR_EFFECT_CRASHES;
    if (deadlocks(first, orders[1], evidence) || deadlocks(second, orders[2], evidence))
        return MR_EFFECT_DEADLOCKS;
    mr_effect effect = compare(first, orders[1], second, orders[2], recorded, evidence);
    if (recorded->is_there && !recorded->refused) {
        char text[MR_EVIDENCE_BYTES] = "";
        mr_effect other = compare(recorded, orders[0], first, orders[1], recorded, text);
        if (other < effect) {
            effect = other;
            memcpy(evidence, text, sizeof text);
        }
        other = compare(recorded, orders[0], second, orders[2], recorded, text);
        if (other < effect) {
            effect = other;
            memcpy(evidence, text, sizeof text);
        }
    }
    return effect;
}
