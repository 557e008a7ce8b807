/* relation: the whole-trace orders by name, and what each of them promises (docs/semantics.md 6).
 */
#ifndef MR_ORDER_RELATION_H
#define MR_ORDER_RELATION_H

#include <stdbool.h>

/* X(enumerator, name, sound, streaming): sound: each reported pair is a race; streaming: found in
 * one pass that needs no event again. In the order of docs/semantics.md. */
#define MR_RELATION_MAP(X)                                                                         \
    X(HB, "hb", false, true)                                                                       \
    X(FHB, "fhb", true, true)                                                                      \
    X(SHB, "shb", true, true)                                                                      \
    X(CP, "cp", false, false)                                                                      \
    X(WCP, "wcp", false, true)                                                                     \
    X(SYNCP, "syncp", true, false)                                                                 \
    X(C17, "c17", false, true)                                                                     \
    X(HYBRID, "hybrid", false, true)

typedef enum mr_relation {
#define MR_RELATION_ENUM(name, text, sound, streaming) MR_RELATION_##name,
    MR_RELATION_MAP(MR_RELATION_ENUM)
#undef MR_RELATION_ENUM
        MR_RELATION_COUNT
} mr_relation;

const char *mr_relation_name(mr_relation relation); /* "hb" … */
bool mr_relation_sound(mr_relation relation);
bool mr_relation_streaming(mr_relation relation);

#endif
