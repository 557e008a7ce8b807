/* schema: holds a JSON value against a JSON Schema; the part of the language that
 * docs/report.schema.json uses: type, enum, minimum, properties, required, additionalProperties,
 * items, minItems, maxItems, and $ref to #/definitions/…. Any other keyword is an error, so that
 * none is silently ignored.
 *
 * Also JSON as tests need it: texts and files that must be JSON, and failing allocations of
 * jansson. */
#ifndef MR_TESTS_SUPPORT_SCHEMA_H
#define MR_TESTS_SUPPORT_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* True when it fits; else what does not is in `problem`. `root` holds the definitions. */
bool mr_schema_fits(const json_t *root, const json_t *schema, const json_t *value,
                    char problem[256]);

/* The value of a text, or of a file; both end the test when it is no JSON or has a member twice.
 * Owned by the caller. */
json_t *mr_schema_parse(const char *text);
json_t *mr_schema_load(const char *path);

/* From now on jansson's first `count` allocations succeed, and all further ones fail. */
void mr_json_fail_after(uint64_t count);
/* All of them succeed again. */
void mr_json_fail_never(void);

#endif
