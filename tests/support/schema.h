/* schema: holds a JSON value against a JSON Schema; the part of the language that
 * docs/report.schema.json uses: type, enum, minimum, properties, required, additionalProperties,
 * items, minItems, maxItems, and $ref to #/definitions/…. Any other keyword is an error, so that
 * none is silently ignored. */
#ifndef MR_TESTS_SUPPORT_SCHEMA_H
#define MR_TESTS_SUPPORT_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* True when it fits; else what does not is in `problem`. `root` holds the definitions. */
bool mr_schema_fits(const json_t *root, const json_t *schema, const json_t *value,
                    char problem[256]);

/* From now on the JSON library gets memory n times, then none; until mr_json_fail_never. */
void mr_json_fail_after(uint64_t n);
void mr_json_fail_never(void);

#endif
