#include "big_program.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Names of fields, V<number>.<container>: those of class c are from c * MR_BIG_FIELDS on. */
enum { FIRST_GUARD_FIELD = 1000, FIRST_COUNTER = 2000 };

typedef struct maker {
    mr_big_program *program;
    mr_random random;
} maker;

mr_big_piece mr_big_piece_make(const char *before, uint64_t number, const char *after)
{
    mr_big_piece piece = {.length = 0};
    int length =
        snprintf(piece.bytes, sizeof piece.bytes, "%s%" PRIu64 "%s", before, number, after);
    piece.length = length < (int)sizeof piece.bytes ? (uint32_t)length : sizeof piece.bytes - 1;
    return piece;
}

static mr_big_piece text_piece(const char *text)
{
    mr_big_piece piece = {.length = (uint32_t)strlen(text)};
    memcpy(piece.bytes, text, piece.length);
    return piece;
}

static mr_big_piece new_location(maker *self)
{
    return mr_big_piece_make(")|", MR_BIG_FIRST_LOCATION + self->program->location_count++, "\n");
}

static mr_big_access *add_access(maker *self, mr_big_method *method, bool write)
{
    mr_big_access *access = &method->accesses[method->count++];
    access->write = write;
    access->step = (uint16_t)(write ? mr_random_below(&self->random, 4) : 0);
    access->tail = new_location(self);
    return access;
}

/* An access to field `field` of the container: its name is V<name>.<container>. */
static void add_field(maker *self, mr_big_method *method, bool write, uint32_t name, uint32_t field)
{
    mr_big_access *access = add_access(self, method, write);
    access->head = mr_big_piece_make(write ? "w(V" : "r(V", name, ".");
    access->cell = (uint16_t)field;
}

/* An access to an element of the array or table in the slot. */
static void add_element(maker *self, mr_big_method *method, bool write, uint32_t slot)
{
    mr_big_access *access = add_access(self, method, write);
    access->head = text_piece(write ? "w(V" : "r(V");
    access->slot = (uint16_t)slot;
}

static void make_objects(maker *self)
{
    for (uint32_t type = 0; type < MR_BIG_CLASSES; type++)
        for (uint32_t m = 0; m < MR_BIG_METHODS; m++) {
            uint32_t count = mr_random_range(&self->random, 2, MR_BIG_ACCESSES);
            for (uint32_t i = 0; i < count; i++) {
                uint32_t field = mr_random_below(&self->random, MR_BIG_FIELDS);
                add_field(self, &self->program->object[type][m],
                          mr_random_percent(&self->random, 30), 1 + type * MR_BIG_FIELDS + field,
                          field);
            }
        }
}

/* Such as c[i] = a[i] + b[i]. */
static void make_arrays(maker *self)
{
    for (uint32_t m = 0; m < MR_BIG_METHODS; m++) {
        uint32_t reads = mr_random_range(&self->random, 1, 4);
        for (uint32_t i = 0; i < reads; i++)
            add_element(self, &self->program->array[m], false,
                        mr_random_below(&self->random, MR_BIG_SLOTS));
        if (mr_random_percent(&self->random, 75))
            add_element(self, &self->program->array[m], true,
                        mr_random_below(&self->random, MR_BIG_SLOTS));
    }
}

static void make_tables(maker *self)
{
    for (uint32_t m = 0; m < MR_BIG_METHODS; m++)
        for (uint32_t i = mr_random_range(&self->random, 1, 3); i > 0; i--)
            add_element(self, &self->program->table[m], false, 0);
    add_element(self, &self->program->table_setup, true, 0);
    self->program->table_setup.accesses[0].step = 7;
}

/* The fields of what a lock guards: 1 … 4; field 0 is the slot of a queue. */
static void make_guarded(maker *self)
{
    for (uint32_t kind = 0; kind < MR_BIG_GUARD_KINDS; kind++)
        for (uint32_t m = 0; m < MR_BIG_GUARD_METHODS; m++) {
            mr_big_method *method = &self->program->guarded[kind][m];
            method->sync_tail = new_location(self);
            uint32_t count = mr_random_range(&self->random, 1, 3);
            for (uint32_t i = 0; i < count; i++) {
                uint32_t field = mr_random_range(&self->random, 1, 4);
                add_field(self, method, mr_random_percent(&self->random, 40),
                          FIRST_GUARD_FIELD + kind * MR_BIG_FIELDS + field, field);
            }
        }
    mr_big_method *queue = &self->program->queue;
    queue->sync_tail = new_location(self);
    add_field(self, queue, false, FIRST_GUARD_FIELD, 0);
    add_field(self, queue, true, FIRST_GUARD_FIELD, 0);
    queue->accesses[1].step = 1;
}

/* Method 0 counts up; method 1 only looks, or sets a flag. */
static void make_counters(maker *self)
{
    for (uint32_t c = 0; c < MR_BIG_COUNTERS; c++) {
        mr_big_method *methods = self->program->counter[c];
        add_field(self, &methods[0], false, FIRST_COUNTER, c);
        add_field(self, &methods[0], true, FIRST_COUNTER, c);
        methods[0].accesses[1].step = 1;
        add_field(self, &methods[1], c % 4 == 3, FIRST_COUNTER, c);
        for (uint32_t m = 0; m < MR_BIG_COUNTER_METHODS; m++)
            for (uint32_t i = 0; i < methods[m].count; i++)
                methods[m].accesses[i].head = mr_big_piece_make(
                    methods[m].accesses[i].write ? "w(V" : "r(V", FIRST_COUNTER + c, "");
    }
}

void mr_big_program_make(mr_big_program *program, uint64_t seed, bool values)
{
    maker self = {program, {seed ^ 0x6d617872616365u}};
    memset(program, 0, sizeof *program);
    program->plain_tail = new_location(&self);
    for (uint32_t i = 0; i < MR_BIG_TABLE_CELLS; i++)
        program->indexes[i] = mr_big_piece_make("", i, "]");
    for (uint32_t i = 0; values && i < MR_BIG_VALUES; i++)
        program->values[i] = mr_big_piece_make("=", (uint64_t)i * MR_BIG_VALUE_STEP, "");
    make_objects(&self);
    make_arrays(&self);
    make_tables(&self);
    make_guarded(&self);
    make_counters(&self);
}
