/*
 * z3_late: Z3 as the program sees it. Loading libz3 and libstdc++ takes longer than most of what does without them (1.2 of
 * 2.3 ms of `maxrace --version`). So the program is not linked with libz3: the functions that solver/ calls are here, and the first
 * call loads the library. The linker says when one is missing. libmaxrace.a and libmaxrace.so are linked with libz3 as ever.
 */
#include "cli.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <z3.h>

/* The Makefile gives the name of the library that it has found. */
#ifndef MR_Z3_LIBRARY
#define MR_Z3_LIBRARY "libz3.so.4"
#endif

/* What it returns, its name, its parameters, and these as arguments. */
#define Z3_MAP(F)                                                                                  \
    F(void, ast_vector_dec_ref, (Z3_context c, Z3_ast_vector v), (c, v))                           \
    F(Z3_ast, ast_vector_get, (Z3_context c, Z3_ast_vector v, unsigned i), (c, v, i))              \
    F(void, ast_vector_inc_ref, (Z3_context c, Z3_ast_vector v), (c, v))                           \
    F(void, ast_vector_push, (Z3_context c, Z3_ast_vector v, Z3_ast a), (c, v, a))                 \
    F(unsigned, ast_vector_size, (Z3_context c, Z3_ast_vector v), (c, v))                          \
    F(void, del_config, (Z3_config c), (c))                                                        \
    F(void, del_context, (Z3_context c), (c))                                                      \
    F(Z3_func_decl, get_app_decl, (Z3_context c, Z3_app a), (c, a))                                \
    F(Z3_lbool, get_bool_value, (Z3_context c, Z3_ast a), (c, a))                                  \
    F(Z3_error_code, get_error_code, (Z3_context c), (c))                                          \
    F(Z3_string, get_error_msg, (Z3_context c, Z3_error_code e), (c, e))                           \
    F(uint64_t, get_estimated_alloc_size, (void), ())                                              \
    F(bool, get_numeral_int64, (Z3_context c, Z3_ast a, int64_t * i), (c, a, i))                   \
    F(bool, get_numeral_uint64, (Z3_context c, Z3_ast a, uint64_t * u), (c, a, u))                 \
    F(void, interrupt, (Z3_context c), (c))                                                        \
    F(Z3_ast_vector, mk_ast_vector, (Z3_context c), (c))                                           \
    F(Z3_sort, mk_bool_sort, (Z3_context c), (c))                                                  \
    F(Z3_sort, mk_bv_sort, (Z3_context c, unsigned n), (c, n))                                     \
    F(Z3_ast, mk_bvadd, (Z3_context c, Z3_ast a, Z3_ast b), (c, a, b))                             \
    F(Z3_ast, mk_bvmul, (Z3_context c, Z3_ast a, Z3_ast b), (c, a, b))                             \
    F(Z3_ast, mk_bvslt, (Z3_context c, Z3_ast a, Z3_ast b), (c, a, b))                             \
    F(Z3_ast, mk_bvult, (Z3_context c, Z3_ast a, Z3_ast b), (c, a, b))                             \
    F(Z3_config, mk_config, (void), ())                                                            \
    F(Z3_ast, mk_const, (Z3_context c, Z3_symbol s, Z3_sort t), (c, s, t))                         \
    F(Z3_context, mk_context_rc, (Z3_config c), (c))                                               \
    F(Z3_ast, mk_eq, (Z3_context c, Z3_ast a, Z3_ast b), (c, a, b))                                \
    F(Z3_ast, mk_false, (Z3_context c), (c))                                                       \
    F(Z3_ast, mk_int, (Z3_context c, int v, Z3_sort t), (c, v, t))                                 \
    F(Z3_sort, mk_int_sort, (Z3_context c), (c))                                                   \
    F(Z3_symbol, mk_int_symbol, (Z3_context c, int i), (c, i))                                     \
    F(Z3_ast, mk_le, (Z3_context c, Z3_ast a, Z3_ast b), (c, a, b))                                \
    F(Z3_ast, mk_not, (Z3_context c, Z3_ast a), (c, a))                                            \
    F(Z3_ast, mk_or, (Z3_context c, unsigned n, const Z3_ast *a), (c, n, a))                       \
    F(Z3_params, mk_params, (Z3_context c), (c))                                                   \
    F(Z3_solver, mk_simple_solver, (Z3_context c), (c))                                            \
    F(Z3_symbol, mk_string_symbol, (Z3_context c, Z3_string s), (c, s))                            \
    F(Z3_ast, mk_sub, (Z3_context c, unsigned n, const Z3_ast *a), (c, n, a))                      \
    F(Z3_ast, mk_unsigned_int64, (Z3_context c, uint64_t v, Z3_sort t), (c, v, t))                 \
    F(Z3_ast, mk_zero_ext, (Z3_context c, unsigned n, Z3_ast a), (c, n, a))                        \
    F(void, model_dec_ref, (Z3_context c, Z3_model m), (c, m))                                     \
    F(bool, model_eval, (Z3_context c, Z3_model m, Z3_ast a, bool all, Z3_ast *v),                 \
      (c, m, a, all, v))                                                                           \
    F(Z3_ast, model_get_const_interp, (Z3_context c, Z3_model m, Z3_func_decl f), (c, m, f))       \
    F(void, model_inc_ref, (Z3_context c, Z3_model m), (c, m))                                     \
    F(void, params_dec_ref, (Z3_context c, Z3_params p), (c, p))                                   \
    F(void, params_inc_ref, (Z3_context c, Z3_params p), (c, p))                                   \
    F(void, params_set_bool, (Z3_context c, Z3_params p, Z3_symbol k, bool v), (c, p, k, v))       \
    F(void, params_set_uint, (Z3_context c, Z3_params p, Z3_symbol k, unsigned v), (c, p, k, v))   \
    F(void, set_error_handler, (Z3_context c, Z3_error_handler * h), (c, h))                       \
    F(void, set_param_value, (Z3_config c, Z3_string k, Z3_string v), (c, k, v))                   \
    F(void, solver_assert, (Z3_context c, Z3_solver s, Z3_ast a), (c, s, a))                       \
    F(Z3_lbool, solver_check, (Z3_context c, Z3_solver s), (c, s))                                 \
    F(Z3_lbool, solver_check_assumptions,                                                          \
      (Z3_context c, Z3_solver s, unsigned n, const Z3_ast *a), (c, s, n, a))                      \
    F(void, solver_dec_ref, (Z3_context c, Z3_solver s), (c, s))                                   \
    F(Z3_model, solver_get_model, (Z3_context c, Z3_solver s), (c, s))                             \
    F(Z3_string, solver_get_reason_unknown, (Z3_context c, Z3_solver s), (c, s))                   \
    F(Z3_stats, solver_get_statistics, (Z3_context c, Z3_solver s), (c, s))                        \
    F(Z3_ast_vector, solver_get_unsat_core, (Z3_context c, Z3_solver s), (c, s))                   \
    F(void, solver_inc_ref, (Z3_context c, Z3_solver s), (c, s))                                   \
    F(void, solver_set_params, (Z3_context c, Z3_solver s, Z3_params p), (c, s, p))                \
    F(void, stats_dec_ref, (Z3_context c, Z3_stats s), (c, s))                                     \
    F(Z3_string, stats_get_key, (Z3_context c, Z3_stats s, unsigned i), (c, s, i))                 \
    F(unsigned, stats_get_uint_value, (Z3_context c, Z3_stats s, unsigned i), (c, s, i))           \
    F(void, stats_inc_ref, (Z3_context c, Z3_stats s), (c, s))                                     \
    F(unsigned, stats_size, (Z3_context c, Z3_stats s), (c, s))                                    \
    F(Z3_app, to_app, (Z3_context c, Z3_ast a), (c, a))

/* The functions of the library. NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define POINTER(returned, name, parameters, arguments) __typeof__(&Z3_##name) name;
static struct {
    Z3_MAP(POINTER)
} loaded;
#undef POINTER
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Z3 is called from deep inside the library, which cannot go on without it, and the package of maxrace asks for it. */
_Noreturn static void give_up(void)
{
    fprintf(stderr, "maxrace: cannot load Z3: %s\n", dlerror());
    _Exit(mr_status_exit(MR_ERR_IO));
}

static void load(void)
{
    void *library = dlopen(MR_Z3_LIBRARY, RTLD_NOW | RTLD_LOCAL), *symbol;
    if (!library)
        give_up();
#define FIND(returned, name, parameters, arguments)                                                \
    symbol = dlsym(library, "Z3_" #name);                                                          \
    if (!symbol)                                                                                   \
        give_up();                                                                                 \
    memcpy(&loaded.name, &symbol, sizeof symbol);
    Z3_MAP(FIND)
#undef FIND
}

#define CALL(returned, name, parameters, arguments)                                                \
    returned Z3_##name parameters                                                                  \
    {                                                                                              \
        pthread_once(&once, load);                                                                 \
        return loaded.name arguments;                                                              \
    }
Z3_MAP(CALL)
