/*
 * real: the functions behind those that the runtime interposes. They are looked up when they are
 * first needed, because other libraries may call ours before our constructor has run.
 */
#ifndef MR_RUNTIME_REAL_H
#define MR_RUNTIME_REAL_H

#ifndef _GNU_SOURCE
#error "the runtime is compiled with -D_GNU_SOURCE"
#endif

#include <dlfcn.h>

/* The next definition of a function; ends the process when there is none. */
void *mr_real_find(const char *name);
/* The same; NULL when there is none. */
void *mr_real_look(const char *name);
/* Nor is it looked for in libraries that dlopen has loaded. */
void *mr_real_next(const char *name);
/* The first definition, which may be the runtime's. NULL: none. */
void *mr_real_any(const char *name);
/* With a version: for functions whose oldest version behaves in another way. */
void *mr_real_find_version(const char *name, const char *version);

/* MR_REAL(read)(fd, …): one cache for each place that uses it. */
#define MR_REAL(name)                  MR_REAL_FOUND(name, mr_real_find(#name))
#define MR_REAL_VERSION(name, version) MR_REAL_FOUND(name, mr_real_find_version(#name, version))

#define MR_REAL_FOUND(name, look_up)                                                               \
    (__extension__({                                                                               \
        static __typeof__(&name) cached;                                                           \
        __typeof__(&name) real_function = __atomic_load_n(&cached, __ATOMIC_RELAXED);              \
        if (__builtin_expect(real_function == NULL, 0)) {                                          \
            real_function = (__typeof__(&name))(look_up);                                          \
            __atomic_store_n(&cached, real_function, __ATOMIC_RELAXED);                            \
        }                                                                                          \
        real_function;                                                                             \
    }))

#endif
