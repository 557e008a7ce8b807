#include "assembly.h"

#include "log_reader.h"

void mr_assembly_free(mr_assembly *assembly)
{
    mr_pairs_free(&assembly->bytes);
}

bool mr_assembly_note(mr_assembly *assembly, mr_lifetimes *lives, const uint64_t *record)
{
    unsigned kind = mr_log_kind_of(record[0]);
    bool ok = true;
    if (kind < MR_LOG_ATOMIC_READ || kind > MR_LOG_ATOMIC_UPDATE || !mr_log_is_volatile(record[0]))
        return true;
    uint64_t address = mr_log_payload(record[0]), bytes = mr_log_access_bytes(record);
    uint32_t life = mr_lifetimes_find(lives, address)->number;
    for (uint64_t i = 0; i < bytes && ok; i++) {
        mr_pair byte = {life, address + i};
        ok = mr_pairs_add(&assembly->bytes, byte) != MR_PAIRS_NONE;
    }
    return ok;
}

bool mr_assembly_joins(const mr_assembly *assembly, const uint64_t *record, mr_extent extent)
{
    unsigned kind = mr_log_kind_of(record[0]);
    if ((kind != MR_LOG_READ && kind != MR_LOG_WRITE) || !mr_log_is_volatile(record[0]))
        return false;
    bool joins = assembly->bytes.count > 0;
    for (uint64_t i = 0; i < extent.bytes && joins; i++) {
        mr_pair byte = {extent.life->number, extent.address + i};
        joins = mr_pairs_find(&assembly->bytes, byte) != MR_PAIRS_NONE;
    }
    return joins;
}
