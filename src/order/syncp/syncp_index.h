/* syncp_index: an index (syncp.h) of ideals that a pass has made. */
#ifndef MR_ORDER_SYNCP_SYNCP_INDEX_H
#define MR_ORDER_SYNCP_SYNCP_INDEX_H

#include "syncp.h"
#include "syncp_ideal.h"

/* Takes over the ideals, which are zero then. NULL: no memory; they stay the caller's. */
mr_syncp_index *mr_syncp_index_of(const mr_trace *trace, mr_syncp_ideals *ideals);

#endif
