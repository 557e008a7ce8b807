/* own_module: where the running test program is mapped. */
#ifndef MR_TESTS_SUPPORT_OWN_MODULE_H
#define MR_TESTS_SUPPORT_OWN_MODULE_H

#include <stdint.h>

/* [start, end) of its parts in memory, `bias` bytes above the addresses in the file. */
typedef struct mr_own_module {
    uint64_t bias, start, end;
} mr_own_module;

mr_own_module mr_own_module_find(void);

#endif
