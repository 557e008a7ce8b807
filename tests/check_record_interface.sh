#!/usr/bin/env bash
# The interface of ThreadSanitizer that programs call themselves: whatever links with -fsanitize=thread links with maxrace.
# tests/interface_names.txt has the names, without those of runtime/syscall_hooks.c. Prints "[       OK ] name", or the reason and
# "[  FAILED  ] name".
set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build/release}
maxrace=$(realpath "$build/maxrace") library=$(realpath "$build/libmaxrace_rt.so")
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. tests/support/check.sh
unset MAXRACE_CC MAXRACE_CXX

# Names that the compilers' libraries need for themselves.
inner='__tsan_resume|__tsan_resumed|__tsan_setjmp|__tsan_stack_initialization|__tsan_thread_start_func|__tsan_tls_initialization'

names_of() { nm -D --defined-only "$1" | awk '{ print $3 }' | sed 's/@.*//' | grep -E '^(__tsan_|__sanitizer_|Annotate|WTFAnnotate|RunningOnValgrind|Valgrind|ThreadSanitizer)' | sort -u; }

# covers LIBRARY: the table and the hooks for calls of the kernel have each name that the library of a compiler exports.
covers() {
    local missing
    [ "$(names_of "$1" | wc -l)" -gt 100 ] || { echo "$1 exports hardly anything"; return 1; }
    missing=$(names_of "$1" | grep -vxE "$inner" | comm -23 - <({ cat tests/interface_names.txt; names_of "$library" | grep '^__sanitizer_syscall_'; } | sort -u))
    [ -z "$missing" ] || { echo "names that maxrace has not:" $missing; return 1; }
}

is_exported() {
    local missing
    missing=$(sort -u tests/interface_names.txt | comm -23 - <(names_of "$library"))
    [ -z "$missing" ] || { echo "not exported:" $missing; return 1; }
}

# links COMPILER: a program that names all of them, and calls those that need no preparation, runs, recorded and not.
links() {
    local compiler=$1
    {
        sed 's/.*/extern char &[];/' tests/interface_names.txt
        echo 'void *names[] = {'
        sed 's/.*/    &,/' tests/interface_names.txt
        echo '};'
    } >"$scratch/names.c"
    "$maxrace" cc -- "$compiler" -c -w -fno-sanitize=all -o "$scratch/names.o" "$scratch/names.c" &&
        "$maxrace" cc -- "$compiler" -g -O1 -pthread "$scratch/calls.c" "$scratch/names.o" -o "$scratch/calls" &&
        "$scratch/calls" &&
        "$maxrace" record -o "$scratch/calls.mrt" -- "$scratch/calls" >"$scratch/said" 2>&1 || { cat "$scratch/said"; return 1; }
    grep -q '#0 0x[0-9a-f]* in ' "$scratch/said" || { echo 'no stack was printed'; return 1; }
    "$maxrace" predict "$scratch/calls.mrt" >"$scratch/report" || { cat "$scratch/report"; return 1; }
}

cat >"$scratch/calls.c" <<'EOF'
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

const char *ThreadSanitizerQuery(const char *query);
int RunningOnValgrind(void);
double ValgrindSlowdown(void);
void AnnotateThreadName(const char *file, int line, const char *name);
void AnnotateCondVarSignal(const char *file, int line, const volatile void *condition);
void AnnotateCondVarWait(const char *file, int line, const volatile void *condition, const volatile void *lock);
void AnnotateNewMemory(const char *file, int line, const volatile void *memory, size_t bytes);
void *__tsan_get_current_report(void);
int __tsan_get_report_data(void *, const char **, int *, int *, int *, int *, int *, int *, void **, unsigned long);
void *__tsan_external_register_tag(const char *type);
void __tsan_external_assign_tag(void *object, void *tag);
void __tsan_external_read(void *object, void *code, void *tag);
void __tsan_external_write(void *object, void *code, void *tag);
unsigned long __tsan_testonly_shadow_stack_current_size(void);
void __tsan_flush_memory(void);
void __tsan_mutex_post_lock(void *lock, unsigned flags, int recursion);
int __tsan_mutex_pre_unlock(void *lock, unsigned flags);
void __tsan_mutex_pre_lock(void *lock, unsigned flags);
void __tsan_mutex_post_unlock(void *lock, unsigned flags);
void __tsan_mutex_pre_divert(void *lock, unsigned flags);
void __tsan_mutex_post_divert(void *lock, unsigned flags);
void __tsan_java_init(unsigned long heap, unsigned long bytes);
void __tsan_java_alloc(unsigned long address, unsigned long bytes);
void __tsan_java_mutex_lock(unsigned long lock);
void __tsan_java_mutex_unlock(unsigned long lock);
void __tsan_java_finalize(void);
int __tsan_java_fini(void);
int __sanitizer_acquire_crash_state(void);
void __sanitizer_print_stack_trace(void);
size_t __sanitizer_get_allocated_size(const volatile void *block);
void __sanitizer_symbolize_global(void *data, const char *format, char *text, size_t bytes);
int __sanitizer_get_module_and_offset_for_pc(void *code, char *path, size_t bytes, void **offset);
void __sanitizer_syscall_pre_impl_write(long fd, long address, long bytes);
void __sanitizer_syscall_post_impl_read(long result, long fd, long address, long bytes);

extern void *names[];
static char heap[4096] __attribute__((aligned(16)));
static long lock, object;
static int counter;

static void locked_change(int recursion)
{
    __tsan_mutex_pre_lock(&lock, 0);
    __tsan_mutex_post_lock(&lock, recursion ? 1 << 6 : 0, recursion);
    counter++;
    __tsan_mutex_pre_divert(&lock, 0);
    __tsan_mutex_post_divert(&lock, 0);
    int depth = __tsan_mutex_pre_unlock(&lock, recursion ? 1 << 7 : 0);
    __tsan_mutex_post_unlock(&lock, 0);
    assert(depth == 0 || depth == (recursion ? recursion : 1));
}

static void *java(void *unused)
{
    pthread_mutex_t *real = unused;
    pthread_mutex_lock(real);
    locked_change(3);
    __tsan_java_mutex_lock((unsigned long)heap);
    heap[8]++;
    __tsan_java_mutex_unlock((unsigned long)heap);
    pthread_mutex_unlock(real);
    return NULL;
}

int main(void)
{
    char text[64], path[256];
    void *offset, *tag = __tsan_external_register_tag("object");
    pthread_t thread;
    static pthread_mutex_t real = PTHREAD_MUTEX_INITIALIZER;
    assert(names[0] != NULL && tag != __tsan_external_register_tag("other"));
    assert(!RunningOnValgrind() && ValgrindSlowdown() >= 1 && ThreadSanitizerQuery("")[0] == '0');
    AnnotateThreadName(__FILE__, __LINE__, "caller");
    AnnotateCondVarSignal(__FILE__, __LINE__, &lock);
    AnnotateCondVarWait(__FILE__, __LINE__, &lock, NULL);
    AnnotateNewMemory(__FILE__, __LINE__, heap, sizeof heap);
    assert(__tsan_get_current_report() == NULL);
    assert(__tsan_get_report_data(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0) == 0);
    __tsan_external_assign_tag(&object, tag);
    __tsan_external_write(&object, (void *)main, tag);
    __tsan_external_read(&object, (void *)main, tag);
    (void)__tsan_testonly_shadow_stack_current_size();
    __tsan_flush_memory();
    __tsan_java_init((unsigned long)heap, sizeof heap);
    __tsan_java_alloc((unsigned long)heap, 64);
    pthread_create(&thread, NULL, java, &real);
    java(&real);
    pthread_join(thread, NULL);
    __tsan_java_finalize();
    assert(__tsan_java_fini() == 0);
    assert(__sanitizer_acquire_crash_state() && !__sanitizer_acquire_crash_state());
    __sanitizer_print_stack_trace();
    assert(__sanitizer_get_allocated_size(NULL) == 0);
    __sanitizer_symbolize_global(names, "%g", text, sizeof text);
    assert(strlen(text) > 0);
    assert(__sanitizer_get_module_and_offset_for_pc((void *)main, path, sizeof path, &offset) == 1);
    __sanitizer_syscall_pre_impl_write(1, (long)text, 1);
    __sanitizer_syscall_post_impl_read(1, 0, (long)text, 1);
    return counter == 2 ? 0 : 1;
}
EOF

check interface_exported is_exported
for compiler in gcc clang; do
    needs "$compiler" "interface_links_$compiler" "interface_covers_$compiler" || continue
    case $compiler in
    gcc) theirs=$(gcc -print-file-name=libtsan.so) ;;
    clang) theirs=$(clang -print-file-name="libclang_rt.tsan-$(uname -m).so") ;;
    esac
    check "interface_links_$compiler" links "$compiler"
    if [ -e "$theirs" ]; then check "interface_covers_$compiler" covers "$theirs"; else skip "interface_covers_$compiler" "there is no $theirs"; fi
done
[ "$failures" -eq 0 ]
