#include "op.h"

#include <string.h>

static const struct {
    const char *name;
    uint32_t length;
    mr_operand_kind kind;
    unsigned does;
} operations[MR_OP_COUNT] = {
#define MR_OP_ROW(with, name, text, kind, does) {text, sizeof(text) - 1, MR_OPERAND_##kind, does},
    MR_OP_MAP(MR_OP_ROW, unused)
#undef MR_OP_ROW
};

const char *mr_op_name(mr_op op)
{
    return operations[op].name;
}

mr_operand_kind mr_op_operand_kind(mr_op op)
{
    return operations[op].kind;
}

uint64_t mr_op_total(const uint64_t counts[MR_OP_COUNT], unsigned wanted)
{
    uint64_t total = 0;
    for (int op = 0; op < MR_OP_COUNT; op++)
        total += (operations[op].does & wanted) ? counts[op] : 0;
    return total;
}

bool mr_op_parse(const char *text, uint32_t length, mr_op *op)
{
    for (int i = 0; i < MR_OP_COUNT; i++) {
        if (operations[i].length == length && !memcmp(operations[i].name, text, length)) {
            *op = (mr_op)i;
            return true;
        }
    }
    return false;
}
