/*
 * json_object: builds JSON objects, and the members that all reports have; for the files of
 * src/report only. When memory runs out, the object keeps that in `ok`, and mr_json_dump returns
 * the error.
 */
#ifndef MR_REPORT_JSON_OBJECT_H
#define MR_REPORT_JSON_OBJECT_H

#include "config/config.h"
#include "listing/listing.h"
#include "phrases.h"
#include "witness/witness.h"

#include <jansson.h>

/* `ok` turns false when memory runs out, and stays so. */
typedef struct mr_json {
    json_t *json;
    bool ok;
} mr_json;

/* How objects are written: flags of jansson. */
#define MR_JSON_STYLE (JSON_COMPACT | JSON_REAL_PRECISION(9))

mr_json mr_json_new(void);

/* Takes `value` over. */
void mr_json_put(mr_json *self, const char *key, json_t *value);
void mr_json_put_object(mr_json *self, const char *key, mr_json value);
void mr_json_put_number(mr_json *self, const char *key, uint64_t number);
void mr_json_put_seconds(mr_json *self, const char *key, double seconds);
void mr_json_put_text(mr_json *self, const char *key, const char *text);
/* Adds the object to an array that `self` takes over later; keeps a failure in `self`. */
void mr_json_append(mr_json *self, json_t *array, mr_json item);
/* Adds the name as in the file, and its text for people when there is one. */
void mr_json_put_name(mr_json *self, const char *key, const char *text_key, const mr_names *names,
                      uint32_t number);
/* "window": [start, end] */
void mr_json_put_window(mr_json *self, uint32_t start, uint32_t end);
/* Adds the numbers of the events of a witness. With more than MR_JSON_MOST_EVENTS events it adds
 * "runs" instead: the first and the last of each run of consecutive numbers. */
enum { MR_JSON_MOST_EVENTS = 4096 };
void mr_json_put_events(mr_json *self, const char *key, const mr_witness *witness);

/* Adds "number", "fingerprint" and, with a baseline, "known". */
void mr_json_put_listed(mr_json *self, const mr_listed *finding, const mr_listing *findings);

mr_json mr_json_tool(void);
mr_json mr_json_ending(const mr_ending *ending);
/* Adds "unseen": what synchronises and was not recorded; nothing when there is no such thing. */
void mr_json_put_unseen(mr_json *self, const mr_ending *ending);
/* Adds "confirmed" and "effect" (NULL: not known); nothing where no replay was asked for. */
void mr_json_put_confirmed(mr_json *self, mr_confirmed confirmed, const char *effect);
/* Needs names and counts only, no columns. */
mr_json mr_json_trace(const mr_trace *trace);
/* The options that can change the result or the report; with `run_only`, the others. */
mr_json mr_json_config(const mr_config *config, bool run_only);
/* An access without its value. `operand` is the object of a free, the lock of an acquire. Needs no columns. */
mr_json mr_json_access(const mr_trace *trace, mr_access access, uint32_t operand);
/* The same of an event, in a pair with `other` (phrases.h). Needs columns. */
mr_json mr_json_event(const mr_trace *trace, uint32_t event, uint32_t other);
/* Adds the "value" of an access, when it has one; of an atomic update the one that it read. Adds
 * "value_text", too, when the type of the variable writes it otherwise. */
void mr_json_put_value(mr_json *self, const mr_trace *trace, uint32_t event);

/* Each writes the object and frees it. _member writes `"key": value,` and a newline, _last the last
 * member and the end of the report. MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_json_dump(FILE *stream, mr_json value, mr_error *error);
mr_status mr_json_dump_member(FILE *stream, const char *key, mr_json value, mr_error *error);
mr_status mr_json_dump_last(FILE *stream, const char *key, mr_json value, mr_error *error);

#endif
