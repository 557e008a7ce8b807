/*
 * node_lists: the nodes of a formula in trace order, and by thread in program order, once all are made.
 */
#ifndef MR_ENCODER_NODE_LISTS_H
#define MR_ENCODER_NODE_LISTS_H

#include "encoding.h"

/* Fills by_trace, by_thread and thread_first of the encoding. False: no memory. O(events of the region, or
 * of the window + nodes + nodes outside the region · log). */
bool mr_node_lists_make(mr_encoding *encoding);

#endif
