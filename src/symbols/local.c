#include "local.h"

#include "die.h"
#include "type.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES_MAX = 8, DEPTH_MAX = 100 };

/* A candidate: a variable that lies at the asked address at some time. */
typedef struct candidate {
    Dwarf_Die die, function; /* the function may be an inlined one */
    uint64_t offset_bytes;   /* of the asked address in the variable */
    bool in_scope;           /* the code address `at` is in the scope of the variable */
    bool is_there;           /* at this code address the variable lies at the asked address */
    bool always;             /* the variable lies nowhere else */
    int depth;               /* of its scope in the function */
} candidate;

typedef struct search {
    const mr_elf *elf;
    const mr_frame_place *frame;
    uint64_t base; /* locations are offsets from it */
    bool has_base;
    uint64_t at, address, size_bytes;
    candidate found[CANDIDATES_MAX];
    unsigned count; /* more than CANDIDATES_MAX: too many */
} search;

/* The value of a register at the address where the frame is known. */
static bool value_of(const mr_elf *elf, const mr_frame_place *frame, uint64_t number,
                     uint64_t *value)
{
    /* Their numbers in the psABI of x86-64 and in that of AArch64. */
    bool arm = mr_elf_is_aarch64(elf);
    uint64_t stack_pointer = arm ? 31 : 7, frame_pointer = arm ? 29 : 6;
    *value = number == stack_pointer ? frame->stack : number == frame_pointer ? frame->frame : 0;
    return *value != 0;
}

/* Computes the address of the operation. False: it is not known here. */
static bool evaluate(const mr_elf *elf, const mr_frame_place *frame, const Dwarf_Op *op,
                     uint64_t *address)
{
    uint64_t number = op->atom - DW_OP_breg0, offset = op->number;
    if (op->atom == DW_OP_bregx) {
        number = op->number;
        offset = op->number2;
    } else if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) { /* of a frame base */
        number = op->atom - DW_OP_reg0;
        offset = 0;
    } else if (op->atom < DW_OP_breg0 || op->atom > DW_OP_breg31) {
        return false;
    }
    if (!value_of(elf, frame, number, address))
        return false;
    *address += offset;
    return true;
}

bool mr_local_frame_end(const mr_elf *elf, const mr_frame_place *frame, uint64_t *end)
{
    Dwarf_Frame *rules;
    Dwarf_Op *ops;
    size_t count;
    if (!elf->calls || dwarf_cfi_addrframe(elf->calls, frame->code - 1, &rules) != 0)
        return false;
    bool known = dwarf_frame_cfa(rules, &ops, &count) == 0 && count == 1 &&
                 evaluate(elf, frame, ops, end) && *end > frame->stack;
    free(rules);
    return known;
}

/* Computes the base that the locations of the function's variables are offsets from. */
static void find_base(search *self, Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t count;
    if (!dwarf_attr(function, DW_AT_frame_base, &attribute) ||
        dwarf_getlocation_addr(&attribute, self->frame->code - 1, &ops, &count, 1) != 1 ||
        count != 1)
        return;
    self->has_base = ops->atom == DW_OP_call_frame_cfa
                         ? mr_local_frame_end(self->elf, self->frame, &self->base)
                         : evaluate(self->elf, self->frame, ops, &self->base);
}

/* Computes the address of the variable from its location. */
static bool locate(const search *self, const Dwarf_Op *ops, size_t count, uint64_t *address)
{
    if (count != 1 || (ops->atom >= DW_OP_reg0 && ops->atom <= DW_OP_reg31))
        return false;
    if (ops->atom != DW_OP_fbreg)
        return evaluate(self->elf, self->frame, ops, address);
    *address = self->base + ops->number;
    return self->has_base;
}

/* Adds the variable to the candidates when it can contain the asked bytes. */
static void consider(search *self, Dwarf_Die *die, Dwarf_Die *function, bool in_scope, int depth)
{
    Dwarf_Attribute location;
    Dwarf_Die type;
    Dwarf_Word size;
    Dwarf_Addr base, start, end;
    Dwarf_Op *ops;
    size_t count;
    candidate found = {.die = *die, .function = *function, .in_scope = in_scope, .depth = depth};
    bool any = false;
    if (!dwarf_attr(die, DW_AT_location, &location) || !mr_die_type(die, &type) ||
        dwarf_aggregate_size(&type, &size) != 0)
        return;
    for (ptrdiff_t at = 0;
         (at = dwarf_getlocations(&location, at, &base, &start, &end, &ops, &count)) > 0;) {
        uint64_t first;
        if (!locate(self, ops, count, &first) || self->address + self->size_bytes <= first ||
            self->address >= first + size)
            continue;
        any = true;
        found.offset_bytes = self->address - first;
        found.always = start == 0 && end == (Dwarf_Addr)-1;
        found.is_there =
            found.is_there ||
            (in_scope && (found.always || (self->at - 1 >= start && self->at - 1 < end)));
    }
    if (any && self->count++ < CANDIDATES_MAX)
        self->found[self->count - 1] = found;
}

/* All variables below an entry of the function. */
static void consider_below(search *self, Dwarf_Die *parent, Dwarf_Die *function, bool in_scope,
                           int depth)
{
    Dwarf_Die die;
    if (depth > DEPTH_MAX || dwarf_child(parent, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
            consider(self, &die, function, in_scope, depth);
        if (tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine)
            consider_below(self, &die, tag == DW_TAG_lexical_block ? function : &die,
                           in_scope && self->at && dwarf_haspc(&die, self->at - 1) > 0, depth + 1);
    } while (dwarf_siblingof(&die, &die) == 0);
}

/* The rank of a candidate; 0: it cannot be the variable. */
static int rank_of(const candidate *self)
{
    if (!self->in_scope)
        return 0;
    return self->is_there ? (1 + self->always) * (DEPTH_MAX + 2) + self->depth : 1;
}

/*
 * The candidate that is the variable; NULL: not certain. Only candidates in scope count, and those
 * that lie there at this code address come before the others. Among several of these:
 *
 * - a variable that lies nowhere else comes first: another one is only there for a while
 * - then a variable of an inner scope: two variables share an address when one is dead before the
 *   program first names the other, and the inner one lives later
 */
static const candidate *choose(const search *self)
{
    const candidate *chosen = NULL;
    int best = 0;
    bool certain = true;
    if (self->count > CANDIDATES_MAX || (self->count > 1 && !self->at))
        return NULL;
    for (unsigned i = 0; i < self->count; i++) {
        int rank = rank_of(&self->found[i]);
        certain = rank > best || (certain && rank < best);
        if (rank > best) {
            chosen = &self->found[i];
            best = rank;
        }
    }
    return certain ? chosen : NULL;
}

static bool put_name(const mr_debug *debug, const candidate *chosen, uint64_t size_bytes,
                     char *name, size_t name_bytes, uint64_t *type_entry)
{
    Dwarf_Die die = chosen->die, function = chosen->function, type;
    Dwarf_Word size;
    const char *text = dwarf_diename(&die);
    if (!text || !mr_die_type(&die, &type) || dwarf_aggregate_size(&type, &size) != 0 ||
        chosen->offset_bytes >= size || size - chosen->offset_bytes < size_bytes)
        return false;
    mr_die_name(&function, false, name, name_bytes);
    size_t used = strlen(name);
    snprintf(name + used, name_bytes - used, "%s%s", used ? "." : "", text);
    *type_entry = mr_type_part(debug, &type, chosen->offset_bytes, size_bytes, name, name_bytes);
    return true;
}

bool mr_local_name(mr_code_table *table, const mr_elf *elf, const mr_frame_place *frame,
                   uint64_t at, uint64_t address, uint64_t size_bytes, char *name,
                   size_t name_bytes, uint64_t *type)
{
    Dwarf_Die function;
    search self = {
        .elf = elf, .frame = frame, .at = at, .address = address, .size_bytes = size_bytes};
    *type = 0;
    if (!mr_code_function(table, elf, frame->code - 1, &function))
        return false;
    if (at && dwarf_haspc(&function, at - 1) <= 0)
        self.at = 0; /* the use is in code that the function called and that is not recorded */
    find_base(&self, &function);
    consider_below(&self, &function, &function, true, 0);
    const candidate *chosen = choose(&self);
    return chosen && put_name(&elf->debug, chosen, size_bytes, name, name_bytes, type);
}
