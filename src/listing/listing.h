/*
 * listing: what a result amounts to for the one who reads it: races and observed errors in one list,
 * the worst first, alike ones in groups, without those that are suppressed, with what is known from an
 * earlier report marked.
 *
 *   mr_listing_make → (read the lists) → mr_listing_free
 *
 * A group has the findings of one kind on one variable between the same two functions. All elements of
 * an array are one variable here. Where the trace has no stacks, the place of an access stands for its
 * function. Groups are in the order of their worst finding; findings of a group stand together.
 *
 * A fingerprint is made from the kind, the variable, and the operation, functions and file of both
 * accesses; never from lines, addresses, threads or events. So it survives lines that move. Two
 * findings with one fingerprint are one for a baseline.
 *
 * A new kind of finding is a row in MR_LISTED_MAP, a loop in `collect` (listing.c), and its sentence
 * in subject.c. Cost: O(findings × depth of stacks × suppressions).
 */
#ifndef MR_LISTING_LISTING_H
#define MR_LISTING_LISTING_H

#include "config/config.h"
#include "place.h"
#include "predict/result.h"
#include "suppressions.h"
#include "trace/observed.h"

/* X(enumerator, word in reports, noun for people, kind of suppression) */
#define MR_LISTED_MAP(X)                                                                           \
    X(OBSERVED, "observed", "observed error", RACE)                                                \
    X(MISUSE, "misuse", "observed error", MUTEX)                                                   \
    X(RACE, "race", "race", RACE)                                                                  \
    X(MEMORY_ORDER, "memory-order", "memory-order race", RACE)                                     \
    X(USE_AFTER_FREE, "use-after-free", "use after free", RACE)                                    \
    X(DEADLOCK, "deadlock", "deadlock", DEADLOCK)                                                  \
    X(NULL_POINTER, "null", "null pointer", RACE)                                                  \
    X(DANGLING, "dangling", "dangling pointer", RACE)                                              \
    X(DOUBLE_FREE, "double-free", "double free", RACE)

#define MR_LISTED_ID(id, word, noun, rule) MR_LISTED_##id,
typedef enum mr_listed_kind { MR_LISTED_MAP(MR_LISTED_ID) MR_LISTED_COUNT } mr_listed_kind;
#undef MR_LISTED_ID

const char *mr_listed_word(mr_listed_kind kind);
const char *mr_listed_noun(mr_listed_kind kind);
/* What people call it, with its number: "race 3", "observed 1". */
const char *mr_listed_name(mr_listed_kind kind);
/* Did it happen in the recorded execution itself? Such have numbers of their own: "observed 1". */
bool mr_listed_happened(mr_listed_kind kind);

typedef struct mr_listed {
    mr_listed_kind kind;
    /* Events; `second` is MR_NONE when there is but one. Of a use after free the use and the free, of a
     * pointer the read and the write that it sees, of a deadlock the first two waits. */
    uint32_t first, second;
    size_t index;  /* in the races of the result, in its findings, or in `observed` */
    size_t number; /* for people, from 1; races have their index, the others count by kind */
    const mr_witness *witness; /* on loan from the result; NULL: it happened */
    uint64_t fingerprint;
    uint32_t badness;       /* 0 is worst */
    mr_confirmed confirmed; /* has the program been run by its witness? */
    const char *effect;     /* and what became of it; NULL: not known */
    bool known;             /* its fingerprint is in the baseline */
} mr_listed;

typedef struct mr_listed_group {
    size_t first, count;  /* in `items` */
    uint64_t fingerprint; /* of the kind, the variable, both functions and their files */
    /* Among the groups of the same kind on the same variable: its place, from 0, and how many groups and
     * findings come behind it. */
    size_t rank, groups_behind, findings_behind;
} mr_listed_group;

/* The most groups of one kind on one variable that a report has, and, behind the last of them, a line with the
 * number of findings of the other groups. Nine groups are all there: the ninth takes no more than that line. */
enum { MR_GROUPS_OF_ONE = 8 };

/* Are there groups of its kind on its variable that reports leave out? */
static inline bool mr_listed_group_is_cut(const mr_listed_group *group)
{
    return group->rank + group->groups_behind > MR_GROUPS_OF_ONE;
}

/* Is it left out of reports, unless report.shown is 0? */
static inline bool mr_listed_group_is_hidden(const mr_listed_group *group)
{
    return mr_listed_group_is_cut(group) && group->rank >= MR_GROUPS_OF_ONE;
}

/* The number of findings in the groups that are left out, when this group is the last one before them; else 0. */
static inline size_t mr_listed_group_hides(const mr_listed_group *group)
{
    return mr_listed_group_is_cut(group) && group->rank == MR_GROUPS_OF_ONE - 1
               ? group->findings_behind
               : 0;
}

typedef struct mr_listing {
    mr_observed_list observed;
    mr_listed *items; /* without suppressed ones */
    size_t count, capacity;
    mr_listed_group *groups;
    size_t group_count;
    mr_suppressions suppressions; /* with the number of findings that each has matched */
    bool has_baseline;
    size_t known_count;
    size_t suppressed_count;
    size_t suppressed_by_program; /* of these, by the program's own suppressions */
    /* by index: NULL when it is suppressed */
    const mr_listed **of_race, **of_observed, **of_finding;
} mr_listing;

/* Also to be freed after an error: MR_ERR_MEMORY; MR_ERR_CONFIG for a file of suppressions or a baseline
 * that cannot be read. */
mr_status mr_listing_make(mr_listing *self, const mr_trace *trace, const mr_config *config,
                          const mr_result *result, mr_error *error);
/* For who only counts: without order, groups and the findings by index. Errors and the rest as mr_listing_make. */
mr_status mr_listing_count(mr_listing *self, const mr_trace *trace, const mr_config *config,
                           const mr_result *result, mr_error *error);
void mr_listing_free(mr_listing *self);

/* The finding of an observed error, which is `index` in its list; not ranked, and without a fingerprint. */
mr_listed mr_listed_observed(const mr_observed *observed, size_t index);

/* Tests before the work whether the files that findings need can be read. As mr_listing_make. */
mr_status mr_listing_check(const mr_config *config, mr_error *error);

/* Do the findings make the command fail, by the option fail_on? */
bool mr_listing_fail(const mr_listing *self, const mr_config *config);

/* ---- words about one finding (subject.c); a text is owned by the caller, NULL: no memory ---- */

/* "race on q.tail between push and pop" */
char *mr_listed_title(const mr_listed *finding, const mr_listing *all, const mr_trace *trace);
/* The place for people to look at first, in the program itself: "t.c:7:64"; "" when none has a name. */
const char *mr_listed_place(const mr_listed *finding, const mr_trace *trace);
/* The name of the variable, lock or object that it is about; "" when it has none. */
const char *mr_listed_subject(const mr_listed *finding, const mr_trace *trace);
/* The function of an event: the innermost one of the program itself; "" when it is not known. It is short. */
char *mr_event_function(const mr_trace *trace, uint32_t event);
/* The name of a function for people: "std::vector<...>::insert" for a long one. */
char *mr_function_short(const char *text, uint32_t length);

#endif
