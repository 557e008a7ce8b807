#include "relation.h"

static const struct {
    const char *name;
    bool sound, streaming;
} relations[] = {
#define RELATION_ROW(name, text, sound, streaming) {text, sound, streaming},
    MR_RELATION_MAP(RELATION_ROW)
#undef RELATION_ROW
};

const char *mr_relation_name(mr_relation relation)
{
    return relations[relation].name;
}

bool mr_relation_sound(mr_relation relation)
{
    return relations[relation].sound;
}

bool mr_relation_streaming(mr_relation relation)
{
    return relations[relation].streaming;
}
