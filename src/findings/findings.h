/*
 * findings: what a result amounts to for the one who reads it: races and observed errors in one list,
 * the worst first, alike ones in groups, without those that are suppressed, with what is known from an
 * earlier report marked.
 *
 *   mr_findings_make → (read the lists) → mr_findings_free
 *
 * A group has the findings of one kind on one variable between the same two functions. All elements of
 * an array are one variable here. Where the trace has no stacks, the place of an access stands for its
 * function. Groups are in the order of their worst finding; findings of a group stand together.
 *
 * A fingerprint is made from the kind, the variable, and the operation, functions and file of both
 * accesses; never from lines, addresses, threads or events. So it survives lines that move. Two
 * findings with one fingerprint are one for a baseline.
 *
 * A new kind of finding is a row in MR_FINDING_MAP, a loop in `collect` (findings.c), and its sentence
 * in subject.c. Cost: O(findings × depth of stacks × suppressions).
 */
#ifndef MR_FINDINGS_FINDINGS_H
#define MR_FINDINGS_FINDINGS_H

#include "config/config.h"
#include "place.h"
#include "predict/result.h"
#include "suppressions.h"
#include "trace/observed.h"

/* X(enumerator, word in reports, noun for people, kind of suppression) */
#define MR_FINDING_MAP(X)                                                                          \
    X(OBSERVED, "observed", "observed error", RACE)                                                \
    X(MISUSE, "misuse", "observed error", MUTEX)                                                   \
    X(RACE, "race", "race", RACE)                                                                  \
    X(MEMORY_ORDER, "memory-order", "memory-order race", RACE)

#define MR_FINDING_ID(id, word, noun, rule) MR_FINDING_##id,
typedef enum mr_finding_kind { MR_FINDING_MAP(MR_FINDING_ID) MR_FINDING_COUNT } mr_finding_kind;
#undef MR_FINDING_ID

const char *mr_finding_word(mr_finding_kind kind);
const char *mr_finding_noun(mr_finding_kind kind);
/* Did it happen in the recorded execution itself? */
bool mr_finding_happened(mr_finding_kind kind);

typedef struct mr_finding {
    mr_finding_kind kind;
    uint32_t first, second; /* events; `second` is MR_NONE when there is but one */
    size_t index;           /* in the races of the result, or in `observed` */
    uint64_t fingerprint;
    uint32_t badness; /* 0 is worst */
    bool known;       /* its fingerprint is in the baseline */
} mr_finding;

typedef struct mr_finding_group {
    size_t first, count; /* in `items` */
} mr_finding_group;

typedef struct mr_findings {
    mr_observed_list observed;
    mr_finding *items; /* without suppressed ones */
    size_t count, capacity;
    mr_finding_group *groups;
    size_t group_count;
    mr_suppressions suppressions; /* with the number of findings that each has matched */
    bool has_baseline;
    size_t known_count;
    size_t suppressed_count;
    const mr_finding **of_race, **of_observed; /* by index: NULL when it is suppressed */
} mr_findings;

/* Also to be freed after an error: MR_ERR_MEMORY; MR_ERR_CONFIG for a file of suppressions or a baseline
 * that cannot be read. */
mr_status mr_findings_make(mr_findings *self, const mr_trace *trace, const mr_config *config,
                           const mr_result *result, mr_error *error);
void mr_findings_free(mr_findings *self);

/* Tests before the work whether the files that findings need can be read. As mr_findings_make. */
mr_status mr_findings_check(const mr_config *config, mr_error *error);

/* Do the findings make the command fail, by the option fail_on? */
bool mr_findings_fail(const mr_findings *self, const mr_config *config);

/* ---- words about one finding (subject.c); a text is owned by the caller, NULL: no memory ---- */

/* "race on q.tail between push and pop" */
char *mr_finding_title(const mr_finding *finding, const mr_findings *all, const mr_trace *trace);
/* The place for people to look at first: "t.c:7:64"; "" when none has a name. */
const char *mr_finding_place(const mr_finding *finding, const mr_trace *trace);
/* The name of the variable, lock or object that it is about; "" when it has none. */
const char *mr_finding_subject(const mr_finding *finding, const mr_trace *trace);
/* The function of an event: that of its innermost frame; "" when it is not known. */
char *mr_event_function(const mr_trace *trace, uint32_t event);

#endif
