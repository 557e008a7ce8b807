#include "listing_text.h"

#include "escape.h"
#include "phrases.h"

#include <stdlib.h>

enum { ALIKE_SHOWN = 8, LINES_OF_ONE = 8 };

/* "race 3" or "observed 1": what the finding is called in all reports. */
static void print_number(FILE *stream, const mr_listed *finding)
{
    fprintf(stream, "%s %zu", mr_listed_name(finding->kind), finding->number);
}

static bool print_title(FILE *stream, const mr_listed *finding, const mr_listing *findings,
                        const mr_trace *trace, mr_style style)
{
    const char *place = mr_listed_place(finding, trace);
    char *title = mr_listed_title(finding, findings, trace);
    if (!title)
        return false;
    mr_style_begin(style, stream, MR_TONE_HEAD);
    mr_escape_print(stream, place[0] != '\0' ? place : "an unnamed place");
    mr_style_end(style, stream);
    fputs(": ", stream);
    mr_escape_print(stream, title);
    free(title);
    return true;
}

/* One group. False: no memory. */
static bool print_group(FILE *stream, const mr_listing *findings, const mr_listed_group *group,
                        const mr_trace *trace, mr_style style)
{
    const mr_listed *worst = &findings->items[group->first];
    if (!print_title(stream, worst, findings, trace, style))
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
        /* One group is no longer than the line that would stand for it. */
        bool cut = !all && group->rank + group->groups_behind > LINES_OF_ONE;
        if (cut && group->rank >= LINES_OF_ONE)
            continue;
        if (!print_group(stream, findings, group, trace, style))
            return false;
        if (cut && group->rank == LINES_OF_ONE - 1)
            print_behind(stream, &findings->items[group->first], group, trace);
    }
    return true;
}

bool mr_listing_print_brief(FILE *stream, const mr_listing *findings, const mr_trace *trace)
{
    const mr_style plain = {0};
    for (size_t i = 0; i < findings->count; i++) {
        const mr_listed *finding = &findings->items[i];
        if (!print_title(stream, finding, findings, trace, plain))
            return false;
        if (finding->second != MR_NONE) {
            fputs("; and ", stream);
            mr_escape_print(stream,
                            mr_names_display(&trace->locations, trace->location[finding->second]));
        }
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
