#include "baseline.h"

#include "base/memory.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mr_fingerprint_print(uint64_t fingerprint, char text[MR_FINGERPRINT_BYTES])
{
    snprintf(text, MR_FINGERPRINT_BYTES, "%016" PRIx64, fingerprint);
}

static int compare(const void *one, const void *two)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)two;
    return (a > b) - (a < b);
}

static bool add(mr_baseline *self, const json_t *finding)
{
    const char *text = json_string_value(json_object_get(finding, "fingerprint"));
    if (!text)
        return true;
    if (!mr_grow((void **)&self->items, &self->capacity, self->count + 1, sizeof *self->items))
        return false;
    self->items[self->count++] = strtoull(text, NULL, 16);
    return true;
}

/* Takes the findings of one report. `*found`: it is one. */
static bool take_report(mr_baseline *self, const json_t *report, bool *found)
{
    static const char *const members[] = {"races", "observed"};
    size_t index;
    const json_t *finding;
    if (!json_is_array(json_object_get(report, "races")))
        return true;
    *found = true;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        json_array_foreach(json_object_get(report, members[i]), index, finding)
        {
            if (!add(self, finding))
                return false;
        }
    }
    return true;
}

mr_status mr_baseline_read(mr_baseline *self, const char *file, mr_error *error)
{
    json_error_t problem;
    size_t index;
    const json_t *run;
    bool found = false, ok;
    *self = (mr_baseline){0};
    json_t *report = json_load_file(file, 0, &problem);
    if (!report)
        return mr_error_set(error, MR_ERR_CONFIG, file, 0, "cannot read the baseline: %s",
                            problem.text);
    ok = take_report(self, report, &found);
    json_array_foreach(json_object_get(report, "runs"), index, run)
    {
        ok = ok && take_report(self, json_object_get(run, "report"), &found);
    }
    json_decref(report);
    if (!ok)
        return mr_error_memory(error, "reading the baseline");
    if (!found)
        return mr_error_set(error, MR_ERR_CONFIG, file, 0,
                            "no report of 'predict', 'merge' or 'run' in JSON");
    if (self->count > 0)
        qsort(self->items, self->count, sizeof *self->items, compare);
    return MR_OK;
}

bool mr_baseline_has(const mr_baseline *self, uint64_t fingerprint)
{
    return self->count > 0 &&
           bsearch(&fingerprint, self->items, self->count, sizeof *self->items, compare) != NULL;
}

void mr_baseline_free(mr_baseline *self)
{
    free(self->items);
    *self = (mr_baseline){0};
}
