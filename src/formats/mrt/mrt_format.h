/*
 * mrt_format: the layout of the binary trace format .mrt (docs/mrt-format.md), shared by its writer
 * and its reader. All numbers are little-endian.
 *
 *   header, (NAMES | LINES | MEMBERS | [GAP] EVENTS [VALUES] [STACKS] [ORDERS] [STATE] [POSITIONS])*,
 *     TEXTS*, [TYPES], [ENDING], [RUN], [FACTS], INDEX, END
 *
 * A chunk is a header of 64 bytes and a payload, filled up with zeros to a multiple of 64, so that
 * the columns of a block can be used where they are mapped. Each header has a checksum of itself
 * and one of the payload with its filling: every byte of a file is under a checksum.
 *
 * The payload of a full block begins at a multiple of MR_MRT_PAGE_BYTES, by a GAP before it. So its columns are whole pages, and can
 * be mapped behind those of the block before it.
 */
#ifndef MR_FORMATS_MRT_FORMAT_H
#define MR_FORMATS_MRT_FORMAT_H

#include "trace/trace.h"

/* Raise it with every change of what follows, of the numbers in mr_op, or of what they mean. */
enum {
    MR_MRT_VERSION = 8,
    MR_MRT_STATES_VERSION = 7,   /* the first with STATE and FACTS */
    MR_MRT_OBJECTS_VERSION = 4,  /* the first with objects and memory orders */
    MR_MRT_OLDEST_VERSION = 2,   /* that can be read: has no ENDING */
    MR_MRT_OP_COUNT_BEFORE = 18, /* operations and namespaces before MR_MRT_OBJECTS_VERSION */
    MR_MRT_SPACE_COUNT_BEFORE = 7,
};

enum {
    MR_MRT_ALIGN_BYTES = 64,
    MR_MRT_PAGE_BYTES = 4096,
    MR_MRT_BLOCK_EVENTS = 1 << 16, /* most events of a block */
    MR_MRT_BYTE_ORDER = 0x01020304,
    MR_MRT_CHUNK_MARK = 0x4B4E4843, /* "CHNK" */
    /* what outlook.h counts as an access and as a use of a lock; before there were objects */
    MR_MRT_OUTLOOK_RULES = 3,
    MR_MRT_OUTLOOK_RULES_BEFORE = 2,
    MR_MRT_MAGIC_BYTES = 8,
};

typedef struct mr_mrt_header {
    unsigned char magic[MR_MRT_MAGIC_BYTES];
    uint32_t version, byte_order;
    uint64_t reserved[2];
    char writer[24];   /* "maxrace 0.1.0", for people */
    uint64_t checksum; /* of the bytes before it */
} mr_mrt_header;

typedef enum mr_mrt_kind {
    MR_MRT_NAMES = 1, /* new names of one namespace: lengths, then texts, each ended by a NUL */
    MR_MRT_TEXTS,     /* texts for people: mr_mrt_text, then texts, each ended by a NUL */
    MR_MRT_LINES,     /* mr_mrt_line */
    MR_MRT_EVENTS,    /* the columns op, thread, operand, location, each at a multiple of 64 */
    MR_MRT_VALUES,    /* the value column of the block before it, and what it is the first to use */
    MR_MRT_INDEX,     /* mr_mrt_index; see there */
    MR_MRT_END,
    MR_MRT_STACKS,  /* the stack column of the block before it, and what it is the first to use */
    MR_MRT_ENDING,  /* how the recording ended: lines (trace/ending.h) */
    MR_MRT_ORDERS,  /* the memory_order column of the block before it */
    MR_MRT_MEMBERS, /* mr_membership: variables of objects */
    /* what a replay needs, and nobody else reads (mrt_positions.h) */
    MR_MRT_POSITIONS, /* of the block before it */
    MR_MRT_RUN,       /* of the recorded program: lines */
    MR_MRT_INPUTS,    /* what the program got from outside */
    MR_MRT_TYPES,     /* of variables (trace/value_types.h): mr_mrt_types */
    /* for who reads a part of the file (mrt_part.h) */
    MR_MRT_STATE, /* before the block before it: mr_mrt_state */
    MR_MRT_FACTS, /* of the whole trace: mr_mrt_facts */
    MR_MRT_GAP,   /* zeros, to be passed over */
} mr_mrt_kind;

/* The namespaces, as numbers in a file. */
typedef enum mr_mrt_space {
    MR_MRT_THREADS,
    MR_MRT_VARIABLES,
    MR_MRT_LOCKS,
    MR_MRT_LOCATIONS,
    MR_MRT_CALLS,
    MR_MRT_REACHES,
    MR_MRT_FRAMES,
    MR_MRT_OBJECTS,
    MR_MRT_SPACE_COUNT
} mr_mrt_space;

typedef struct mr_mrt_chunk {
    uint32_t mark, kind;
    uint64_t number;     /* of the chunk in the file, 0, 1, … */
    uint64_t size_bytes; /* of the payload without its filling */
    uint32_t first, count;
    uint32_t space;        /* NAMES, TEXTS: mr_mrt_space */
    uint32_t has_values;   /* EVENTS: is the next chunk their VALUES? */
    uint64_t index_offset; /* END: where the INDEX chunk begins in the file */
    uint64_t payload_checksum;
    uint64_t checksum; /* of the bytes before it */
} mr_mrt_chunk;

typedef struct mr_mrt_text {
    uint32_t name, length;
} mr_mrt_text;

typedef struct mr_mrt_line {
    uint64_t event, offset; /* mr_line_step */
} mr_mrt_line;

/* The beginning of a VALUES payload. Then come the new values (8 bytes each), updates (mr_update),
 * reaches (mr_reach), items of reaches (4 bytes), and the column. */
typedef struct mr_mrt_values {
    uint32_t value_count, update_count, reach_count, item_count;
} mr_mrt_values;

/* The beginning of a STACKS payload. Then come the new stacks (mr_stack), and the column. */
typedef struct mr_mrt_stacks {
    uint32_t stack_count, reserved;
} mr_mrt_stacks;

/* The beginning of a POSITIONS payload. Then come the new codes (8 bytes each), and for each event of
 * the block two numbers as base/bytes.h has them; mrt_positions.h says what they are. */
typedef struct mr_mrt_positions {
    uint32_t code_count, reserved;
} mr_mrt_positions;

/* The beginning of a TYPES payload. Then come pairs of variable and type (mr_mrt_type), and the texts
 * of the types, each ended by a NUL. */
typedef struct mr_mrt_types {
    uint32_t type_count, reserved;
} mr_mrt_types;

typedef struct mr_mrt_type {
    uint32_t variable, type; /* which of the texts: 0, 1, … */
} mr_mrt_type;

/* The beginning of a STATE payload. Then come the open sections (mr_open_section of trace/snapshot.h), and 4 bytes for
 * each variable that the block accesses, in the order of its first accesses: the value that the last write before the
 * block wrote (0: unknown), or MR_NONE for no write. */
typedef struct mr_mrt_state_head {
    uint32_t open_count, carried_count;
} mr_mrt_state_head;

/* The beginning of a FACTS payload. Then come, of each variable, its initial value (4 bytes each), and whether it is
 * treated by source (1 byte each): mr_variable_info. */
typedef struct mr_mrt_facts {
    uint64_t fingerprint; /* trace/fingerprint.h */
    uint32_t variable_count;
    uint32_t most_places; /* that access one variable which the outlook calls contended */
} mr_mrt_facts;

/* The beginning of an INDEX payload. Then come the outlook (`contended`, `lock_shared` as bytes,
 * the lock uses as three numbers of 4 bytes) and what repair said about the first line that it
 * dropped (file and text, not terminated). */
typedef struct mr_mrt_index {
    uint64_t event_count;
    uint64_t dropped_count, dropped_line;
    uint64_t op_counts[MR_OP_COUNT];
    uint32_t name_counts[MR_MRT_SPACE_COUNT];
    uint32_t outlook_rules, use_count;
    uint32_t file_length, text_length;
    uint32_t stack_count; /* without the unused first one */
    uint32_t member_count;
    uint32_t reserved[2];
} mr_mrt_index;

_Static_assert(sizeof(mr_mrt_header) == 64 && sizeof(mr_mrt_chunk) == 64, "headers are 64 bytes");
/* The same before MR_MRT_OBJECTS_VERSION. */
typedef struct mr_mrt_index_before {
    uint64_t event_count;
    uint64_t dropped_count, dropped_line;
    uint64_t op_counts[MR_MRT_OP_COUNT_BEFORE];
    uint32_t name_counts[MR_MRT_SPACE_COUNT_BEFORE];
    uint32_t outlook_rules, use_count;
    uint32_t file_length, text_length;
    uint32_t stack_count;
} mr_mrt_index_before;

_Static_assert(sizeof(mr_mrt_index_before) == 24 + 144 + 48, "the layout of older versions");
_Static_assert(MR_OP_COUNT == 22 && MR_OP_FENCE == 21 && sizeof(mr_mrt_index) == 24 + 176 + 64,
               "another list of operations is another version of the format");

_Static_assert((int)MR_MRT_BLOCK_EVENTS % (int)MR_MRT_PAGE_BYTES == 0,
               "the columns of a full block are whole pages");

extern const unsigned char mr_mrt_magic[MR_MRT_MAGIC_BYTES];

/* Are these the first bytes of an .mrt file? When there are fewer than MR_MRT_MAGIC_BYTES in the
 * file: of a truncated one? */
bool mr_mrt_detect(const void *bytes, size_t count);

uint64_t mr_mrt_checksum(const void *bytes, size_t count);
uint64_t mr_mrt_header_checksum(const mr_mrt_header *header);
uint64_t mr_mrt_chunk_checksum(const mr_mrt_chunk *chunk);

/* MR_ERR_UNSUPPORTED on a machine that is not little-endian. */
mr_status mr_mrt_check_machine(mr_error *error);

static inline uint64_t mr_mrt_filled(uint64_t size_bytes)
{
    return (size_bytes + MR_MRT_ALIGN_BYTES - 1) & ~(uint64_t)(MR_MRT_ALIGN_BYTES - 1);
}

/* Where the columns of a block begin in its payload, and the size of the payload. */
typedef struct mr_mrt_columns {
    size_t thread, operand, location, size_bytes;
} mr_mrt_columns;

static inline mr_mrt_columns mr_mrt_columns_of(uint32_t count)
{
    size_t ops = (size_t)mr_mrt_filled(count), numbers = (size_t)mr_mrt_filled(count * 4ull);
    return (mr_mrt_columns){ops, ops + numbers, ops + 2 * numbers, ops + 3 * numbers};
}

static inline mr_names *mr_mrt_names_of(mr_trace *trace, unsigned space)
{
    switch ((mr_mrt_space)space) {
    case MR_MRT_THREADS:
        return &trace->threads;
    case MR_MRT_VARIABLES:
        return &trace->variables;
    case MR_MRT_LOCKS:
        return &trace->locks;
    case MR_MRT_LOCATIONS:
        return &trace->locations;
    case MR_MRT_CALLS:
        return &trace->calls;
    case MR_MRT_FRAMES:
        return &trace->frames;
    case MR_MRT_OBJECTS:
        return &trace->objects;
    case MR_MRT_REACHES:
    case MR_MRT_SPACE_COUNT:
        break;
    }
    return &trace->reach_names;
}

#endif
