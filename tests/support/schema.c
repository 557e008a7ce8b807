#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool problem_set(char problem[256], const char *what, const char *name)
{
    snprintf(problem, 256, "%.120s: %.120s", name, what);
    return false;
}

static bool type_fits(const char *type, const json_t *value)
{
    if (strcmp(type, "object") == 0)
        return json_is_object(value);
    if (strcmp(type, "array") == 0)
        return json_is_array(value);
    if (strcmp(type, "string") == 0)
        return json_is_string(value);
    if (strcmp(type, "integer") == 0)
        return json_is_integer(value);
    if (strcmp(type, "number") == 0)
        return json_is_number(value);
    if (strcmp(type, "null") == 0)
        return json_is_null(value);
    return strcmp(type, "boolean") == 0 && json_is_boolean(value);
}

static bool keywords_known(const json_t *schema, char problem[256])
{
    static const char *const known[] = {
        "$schema", "title",    "definitions", "$ref",     "type",
        "enum",    "minimum",  "properties",  "required", "additionalProperties",
        "items",   "minItems", "maxItems",    "anyOf",
    };
    const char *key;
    json_t *unused;
    json_object_foreach((json_t *)schema, key, unused)
    {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            found = found || strcmp(key, known[i]) == 0;
        if (!found)
            return problem_set(problem, "unknown keyword of the schema", key);
    }
    return true;
}

static bool scalar_fits(const json_t *schema, const json_t *value, char problem[256])
{
    const json_t *type = json_object_get(schema, "type"), *choice;
    const json_t *minimum = json_object_get(schema, "minimum");
    const json_t *choices = json_object_get(schema, "enum");
    size_t i;
    bool found = choices == NULL;
    if (type != NULL && !type_fits(json_string_value(type), value))
        return problem_set(problem, "wrong type", json_string_value(type));
    if (minimum != NULL && json_number_value(value) < json_number_value(minimum))
        return problem_set(problem, "below the minimum", "number");
    json_array_foreach(choices, i, choice)
    {
        found = found || json_equal(choice, value);
    }
    return found || problem_set(problem, "not in enum", json_string_value(value));
}

static bool object_fits(const json_t *root, const json_t *schema, const json_t *value,
                        char problem[256])
{
    const json_t *properties = json_object_get(schema, "properties"), *name;
    const json_t *additional = json_object_get(schema, "additionalProperties");
    size_t i;
    json_array_foreach(json_object_get(schema, "required"), i, name)
    {
        if (json_object_get(value, json_string_value(name)) == NULL)
            return problem_set(problem, "missing", json_string_value(name));
    }
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)value, key, member)
    {
        const json_t *inner = json_object_get(properties, key);
        if (inner == NULL)
            inner = additional;
        if (json_is_false(inner))
            return problem_set(problem, "not in the schema", key);
        if (inner != NULL && !mr_schema_fits(root, inner, member, problem)) {
            char deeper[256];
            snprintf(deeper, sizeof deeper, "%s", problem);
            return problem_set(problem, deeper, key);
        }
    }
    return true;
}

static bool array_fits(const json_t *root, const json_t *schema, const json_t *value,
                       char problem[256])
{
    const json_t *items = json_object_get(schema, "items"), *item;
    const json_t *least = json_object_get(schema, "minItems");
    const json_t *most = json_object_get(schema, "maxItems");
    json_int_t count = (json_int_t)json_array_size(value);
    size_t i;
    if ((least != NULL && count < json_integer_value(least)) ||
        (most != NULL && count > json_integer_value(most)))
        return problem_set(problem, "wrong number of items", "array");
    json_array_foreach(value, i, item)
    {
        if (items != NULL && !mr_schema_fits(root, items, item, problem))
            return false;
    }
    return true;
}

/* Does the value fit one of the schemas? True also when there are none. */
static bool one_fits(const json_t *root, const json_t *schemas, const json_t *value,
                     char problem[256])
{
    const json_t *schema;
    size_t i;
    json_array_foreach(schemas, i, schema)
    {
        if (mr_schema_fits(root, schema, value, problem))
            return true;
    }
    return schemas == NULL;
}

bool mr_schema_fits(const json_t *root, const json_t *schema, const json_t *value,
                    char problem[256])
{
    const char *reference = json_string_value(json_object_get(schema, "$ref"));
    if (reference != NULL) {
        const char *name = strrchr(reference, '/') + 1;
        schema = json_object_get(json_object_get(root, "definitions"), name);
        if (schema == NULL)
            return problem_set(problem, "no such definition", name);
    }
    return keywords_known(schema, problem) && scalar_fits(schema, value, problem) &&
           one_fits(root, json_object_get(schema, "anyOf"), value, problem) &&
           (!json_is_object(value) || object_fits(root, schema, value, problem)) &&
           (!json_is_array(value) || array_fits(root, schema, value, problem));
}

static json_t *must_be(json_t *value, const json_error_t *problem)
{
    if (value == NULL)
        fail_msg("%s, line %d", problem->text, problem->line);
    return value;
}

json_t *mr_schema_parse(const char *text)
{
    json_error_t problem;
    return must_be(json_loads(text, JSON_REJECT_DUPLICATES, &problem), &problem);
}

json_t *mr_schema_load(const char *path)
{
    json_error_t problem;
    return must_be(json_load_file(path, JSON_REJECT_DUPLICATES, &problem), &problem);
}

static uint64_t allocations_left;

static void *failing_malloc(size_t size)
{
    if (allocations_left == 0)
        return NULL;
    allocations_left--;
    return malloc(size);
}

void mr_json_fail_after(uint64_t count)
{
    allocations_left = count;
    json_set_alloc_funcs(failing_malloc, free);
}

void mr_json_fail_never(void)
{
    json_set_alloc_funcs(malloc, free);
}
