#include "op.h"

#include <string.h>

static const struct {
    const char *name;
    uint32_t length;
    mr_operand_kind kind;
} operations[MR_OP_COUNT] = {
#define MR_OP_ROW(name, text, kind) {text, sizeof(text) - 1, MR_OPERAND_##kind},
    MR_OP_MAP(MR_OP_ROW)
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
