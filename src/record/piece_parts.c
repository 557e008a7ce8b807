/* The parts of the log (pieces.h). */
#include "pieces.h"

enum { FIRST_PART_UNITS = 1 << 16 };

/* Bit i of the result: bit 2 i or 2 i + 1 of the parts. */
static uint32_t fold(uint32_t parts)
{
    parts = (parts | parts >> 1) & 0x55555555;
    parts = (parts | parts >> 1) & 0x33333333;
    parts = (parts | parts >> 2) & 0x0f0f0f0f;
    parts = (parts | parts >> 4) & 0x00ff00ff;
    return (parts | parts >> 8) & 0x0000ffff;
}

/* Parts are twice as long from here on. Bytes that several threads access and one writes stay kept. */
static void double_parts(mr_pieces *pieces)
{
    for (uint32_t i = 0; i < pieces->table.count; i++) {
        mr_piece_line *line = &pieces->lines[i];
        line->parts = fold(line->parts);
        if (!pieces->ordered && line->shared & line->written)
            mr_visits_settle(&pieces->visits, &line->visits);
    }
    mr_visits_judge(&pieces->visits);
    pieces->plain_parts = fold(pieces->plain_parts);
    pieces->part_units *= 2;
}

uint64_t mr_pieces_part(mr_pieces *pieces, uint64_t unit)
{
    if (!pieces->part_units)
        pieces->part_units = FIRST_PART_UNITS;
    while (unit / pieces->part_units >= MR_PIECES_PARTS)
        double_parts(pieces);
    uint64_t number = unit / pieces->part_units;
    mr_visits_come_to(&pieces->visits, unit);
    pieces->part = (uint32_t)1 << number;
    return (number + 1) * pieces->part_units;
}

bool mr_pieces_skips_part(const mr_pieces *pieces, uint64_t unit, uint64_t *end)
{
    uint64_t number = unit / pieces->part_units;
    *end = (number + 1) * pieces->part_units;
    return number < MR_PIECES_PARTS && !(pieces->kept_parts >> number & 1);
}
