#include "collect.h"

#include "base/memory.h"

#include <string.h>

bool mr_collect(void *context, const char *bytes, size_t count)
{
    mr_collected *self = context;
    if (self->limit != 0 && self->count + count > self->limit)
        return false;
    if (!mr_grow((void **)&self->bytes, &self->capacity, self->count + count + 1, 1))
        return false;
    memcpy(self->bytes + self->count, bytes, count);
    self->count += count;
    self->bytes[self->count] = '\0';
    return true;
}
