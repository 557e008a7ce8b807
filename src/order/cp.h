/* cp: see detect.h. */
#ifndef MR_ORDER_CP_H
#define MR_ORDER_CP_H

#include "detect.h"

mr_status mr_cp_find(const mr_trace *trace, const mr_detect_options *options, mr_race_list *list,
                     mr_error *error);

#endif
