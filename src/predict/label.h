/* label: the strength of each race and unknown of a result, by HB and WCP over the whole trace. */
#ifndef MR_PREDICT_LABEL_H
#define MR_PREDICT_LABEL_H

#include "result.h"
#include "settings.h"

/*
 * Sets the strength of all races and unknowns. A pair with the strength hb keeps it: it is
 * unordered by HB in a window, so also in the whole trace; when all pairs have it, nothing is done.
 * MR_ERR_MEMORY. O(events up to the last pair), of which WCP plays few when the accesses of pairs are close; memory as the
 * orders take.
 */
mr_status mr_label_result(const mr_predict_settings *settings, mr_result *result, mr_error *error);

#endif
