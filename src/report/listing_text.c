#include "listing_text.h"

#include "escape.h"
#include "phrases.h"

#include <stdlib.h>
#include <string.h>

enum { ALIKE_SHOWN = 8 };

/* "race 3" or "observed 1": what the finding is called in all reports. */
static void print_number(FILE *stream, const mr_listed *finding)
{
    fprintf(stream, "%s %zu", mr_listed_name(finding->kind), finding->number);
}

static void print_place(FILE *stream, const char *place, mr_style style)
{
    mr_style_begin(style, stream, MR_TONE_HEAD);
    mr_escape_print(stream, place[0] != '\0' ? place : "an unnamed place");
    mr_style_end(style, stream);
    fputs(": ", stream);
}

/* `numbered`: the number follows, which says what was observed. */
static bool print_title(FILE *stream, const mr_listed *finding, const mr_listing *findings,
                        const mr_trace *trace, bool numbered, mr_style style)
{
    static const char observed[] = " (observed)";
    char *title = mr_listed_title(finding, findings, trace);
    if (!title)
        return false;
    if (numbered && mr_listed_happened(finding->kind))
        title[strlen(title) - strlen(observed)] = '\0';
    print_place(stream, mr_listed_place(finding, trace), style);
    mr_escape_print(stream, title);
    free(title);
    return true;
}

/* One group. False: no memory. */
static bool print_group(FILE *stream, const mr_listing *findings, const mr_listed_group *group,
                        const mr_trace *trace, mr_style style)
{
    const mr_listed *worst = &findings->items[group->first];
    if (!print_title(stream, worst, findings, trace, true, style))
        return false;
    fputs(" (", stream);
    print_number(stream, worst);
    if (group->count > 1)
        fprintf(stream, "; %zu more alike", group->count - 1);
    if (worst->confirmed != MR_CONFIRMED_NOT_ASKED)
        fprintf(stream, "; confirmed: %s%s%s", mr_confirmed_name(worst->confirmed),
                worst->effect ? ", " : "", worst->effect ? worst->effect : "");
    if (findings->has_baseline)
        fputs(worst->known ? "; known" : "; new", stream);
    fputs(")\n", stream);
    return true;
}

/* Stands for the groups behind this one on the same variable. */
static void print_behind(FILE *stream, const mr_listed *finding, const mr_listed_group *group,
                         const mr_trace *trace)
{
    const char *subject = mr_listed_subject(finding, trace);
    fprintf(stream, "    and %zu more such findings", group->findings_behind);
    if (subject[0] != '\0') {
        fputs(" on ", stream);
        mr_escape_print(stream, subject);
    }
    fputs(" (--report-shown 0 lists them)\n", stream);
}

bool mr_listing_print_list(FILE *stream, const mr_listing *findings, const mr_trace *trace,
                           bool all, mr_style style)
{
    if (findings->count > 0)
        fputs("\n", stream);
    for (size_t i = 0; i < findings->group_count; i++) {
        const mr_listed_group *group = &findings->groups[i];
        if (!all && mr_listed_group_is_hidden(group))
            continue;
        if (!print_group(stream, findings, group, trace, style))
            return false;
        if (!all && mr_listed_group_hides(group))
            print_behind(stream, &findings->items[group->first], group, trace);
    }
    return true;
}

/* "; and t.c:9", or where the thread begins or ends, when the access is one of its stack. */
static void print_second(FILE *stream, const mr_trace *trace, uint32_t location, uint32_t thread,
                         uint8_t op)
{
    fputs("; and ", stream);
    if (mr_phrase_has_place(trace, location)) {
        mr_escape_print(stream, mr_place_own(mr_names_display(&trace->locations, location)));
        return;
    }
    fputs(op == MR_OP_FREE    ? "the end of "
          : op == MR_OP_ALLOC ? "the start of "
                              : "an unnamed place in ",
          stream);
    mr_escape_print(stream, mr_names_display(&trace->threads, thread));
}

static void print_second_event(FILE *stream, const mr_trace *trace, uint32_t event)
{
    print_second(stream, trace, trace->location[event], trace->thread[event], trace->op[event]);
}

bool mr_listing_print_brief(FILE *stream, const mr_listing *findings, const mr_trace *trace)
{
    const mr_style plain = {0};
    for (size_t i = 0; i < findings->count; i++) {
        const mr_listed *finding = &findings->items[i];
        if (!print_title(stream, finding, findings, trace, false, plain))
            return false;
        if (finding->second != MR_NONE)
            print_second_event(stream, trace, finding->second);
        fputs("\n", stream);
    }
    return true;
}

void mr_listing_print_alike(FILE *stream, const mr_listing *findings, const mr_listed_group *group,
                            const mr_trace *trace)
{
    for (size_t i = 1; i < group->count; i++) {
        const mr_listed *finding = &findings->items[group->first + i];
        if (i > ALIKE_SHOWN) {
            fprintf(stream, "          and %zu more\n", group->count - i);
            return;
        }
        fputs(i == 1 ? "  alike   " : "          ", stream);
        mr_escape_print(stream,
                        mr_names_display(&trace->locations, trace->location[finding->first]));
        if (finding->second != MR_NONE) {
            fputs(" and ", stream);
            mr_escape_print(stream,
                            mr_names_display(&trace->locations, trace->location[finding->second]));
        }
        fputs(" (", stream);
        print_number(stream, finding);
        fputs(")\n", stream);
    }
}

/* ---- the list of an order ---- */

const char *mr_standing_text(mr_standing standing)
{
    static const char *const texts[] = {"proven", "sound by theorem", "candidate", "no race",
                                        "unknown"};
    return texts[standing];
}

static const mr_standing listed[] = {MR_STANDING_RACE, MR_STANDING_SOUND, MR_STANDING_CANDIDATE,
                                     MR_STANDING_UNKNOWN};
static const size_t listed_count = sizeof listed / sizeof listed[0];

/* The name of the place; "" when it has none. */
static const char *place_of(const mr_racing_access *access, const mr_trace *trace)
{
    const char *text = mr_names_display(&trace->locations, access->location);
    return strcmp(text, "?") == 0 ? "" : mr_place_own(text);
}

/* The function of the access, or else its thread. False: no memory. */
static bool print_doer(FILE *stream, const mr_racing_access *access, const mr_trace *trace)
{
    char *function = mr_event_function(trace, access->event);
    if (!function)
        return false;
    mr_escape_print(
        stream, function[0] != '\0' ? function : mr_names_display(&trace->threads, access->thread));
    free(function);
    return true;
}

/* "t.c:7: race on q.tail between push and pop" */
static bool print_order_title(FILE *stream, const mr_race_example *pair, const mr_trace *trace,
                              mr_style style)
{
    const char *place = place_of(&pair->first, trace);
    print_place(stream, place[0] != '\0' ? place : place_of(&pair->second, trace), style);
    fputs("race on ", stream);
    mr_escape_print(stream, mr_names_display(&trace->variables, pair->variable));
    fputs(" between ", stream);
    if (!print_doer(stream, &pair->first, trace))
        return false;
    fputs(" and ", stream);
    return print_doer(stream, &pair->second, trace);
}

/* The end of the line of an observed error, or of a static race. */
static void print_order_end(FILE *stream, const char *noun, size_t number, const char *standing,
                            bool brief)
{
    if (brief && standing)
        fprintf(stream, " (%s)", standing);
    else if (!brief)
        fprintf(stream, " (%s %zu%s%s)", noun, number, standing ? "; " : "",
                standing ? standing : "");
    fputs("\n", stream);
}

static bool print_order_observed(FILE *stream, const mr_order_result *result, const mr_trace *trace,
                                 mr_style style, bool brief)
{
    const mr_listing happened = {.observed = result->observed};
    for (size_t i = 0; i < result->observed.count; i++) {
        const mr_listed finding = mr_listed_observed(&result->observed.items[i], i);
        if (!print_title(stream, &finding, &happened, trace, !brief, style))
            return false;
        if (brief && finding.second != MR_NONE)
            print_second_event(stream, trace, finding.second);
        print_order_end(stream, mr_listed_name(finding.kind), finding.number, NULL, brief);
    }
    return true;
}

bool mr_listing_print_order(FILE *stream, const mr_order_result *result, const mr_trace *trace,
                            mr_style style, bool brief)
{
    const mr_race_list *list = &result->list;
    if (!brief && result->observed.count + list->race_count > result->counts[MR_STANDING_NO_RACE])
        fputs("\n", stream);
    if (!print_order_observed(stream, result, trace, style, brief))
        return false;
    for (size_t k = 0; k < listed_count; k++)
        for (size_t i = 0; i < list->race_count; i++) {
            const mr_race_example *pair = &list->examples[list->races[i].first_example];
            if (result->races[i].standing != listed[k])
                continue;
            if (!print_order_title(stream, pair, trace, style))
                return false;
            const mr_racing_access *second = &pair->second;
            if (brief)
                print_second(stream, trace, second->location, second->thread, second->op);
            print_order_end(stream, "static race", i + 1, mr_standing_text(listed[k]), brief);
        }
    return true;
}
