#!/usr/bin/env bash
# cc, c++, record and run as a user types them: flags, bad usage, exit statuses, programs that end badly, full disks, other
# build systems. Prints "[       OK ] name", or the reason and "[  FAILED  ] name".
set -u
cd "$(dirname "$0")/.." || exit 1
maxrace=$(realpath "${BUILD:-build/release}/maxrace")
sources=$(realpath tests/programs)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. tests/support/check.sh
cd "$scratch" || exit 1
unset MAXRACE_CC MAXRACE_CXX

# says STATUS LINE COMMAND…: the command ends so, with exactly this line on standard error and nothing on standard output.
says() {
    local expected=$1 line=$2 status
    shift 2
    timeout 60 "$@" >out 2>err </dev/null
    status=$?
    [ $status -eq "$expected" ] && [ ! -s out ] && [ "$(cat err)" = "maxrace: $line" ] && return
    echo "$*: status $status"
    cat out err
    return 1
}

# ends STATUS PATTERN COMMAND…: the command ends so, and what it prints has a line like this.
ends() {
    local expected=$1 pattern=$2 status
    shift 2
    timeout 60 "$@" >out 2>err </dev/null
    status=$?
    [ $status -eq "$expected" ] && cat out err | grep -q -- "$pattern" && return
    echo "$*: status $status, no '$pattern'?"
    cat out err
    return 1
}

events() { "$maxrace" convert "$1" - | grep -vc '^#'; }

bad_usage() {
    local command
    for command in record run; do
        says 2 "missing operand; usage: maxrace $command [FLAGS] [--] PROGRAM [ARGUMENTS]" "$maxrace" $command &&
            says 2 "missing operand; usage: maxrace $command [FLAGS] [--] PROGRAM [ARGUMENTS]" "$maxrace" $command -- &&
            says 2 "--seed: 'x' is not a number from 0 on" "$maxrace" $command --seed x ./plain &&
            says 2 "--seed: '-1' is not a number from 0 on" "$maxrace" $command --seed=-1 ./plain &&
            says 2 "--seed: '99999999999999999999' is not a number from 0 on" "$maxrace" $command --seed 99999999999999999999 ./plain &&
            says 2 "--max-events: '1k' is not a number from 0 on" "$maxrace" $command --max-events 1k ./plain &&
            says 2 "--schedule: 'fifo' is not random, pct or os" "$maxrace" $command --schedule fifo ./plain &&
            says 2 "'--seed' needs a value" "$maxrace" $command --seed &&
            says 2 "unknown flag '--nonsense'" "$maxrace" $command --nonsense ./plain || return 1
    done
    says 2 "--runs: '0' is not a number from 1 on" "$maxrace" run --runs 0 ./plain &&
        says 2 "format: 'run' reports as text, json, sarif, junit or html; csv is for 'compare'" "$maxrace" run --format csv ./plain &&
        says 2 "'--model' is not a flag of 'record'" "$maxrace" record --model rf ./plain &&
        says 2 "the trace is written as .mrt; name it so, and convert it if need be" "$maxrace" record -o plain.std ./plain &&
        says 2 "'--' needs a compiler after it" "$maxrace" cc --
}

no_program() {
    local command none="it was not built with 'maxrace cc' or 'maxrace c++'"
    for command in record run; do
        ends 4 '^./nothing: cannot run: No such file' "$maxrace" $command ./nothing &&
            ends 4 '^./plain.c: cannot run: Permission denied' "$maxrace" $command ./plain.c &&
            says 3 "/bin/true recorded nothing: $none (it ended with status 0)" "$maxrace" $command /bin/true &&
            says 3 "false recorded nothing: $none (it ended with status 1)" "$maxrace" $command false || return 1
    done
    ends 4 '^nowhere/a.mrt: cannot write: No such file' "$maxrace" record -o nowhere/a.mrt ./plain &&
        ends 4 '^plain.c: cannot make the folder: File exists' "$maxrace" run --traces plain.c ./plain &&
        [ ! -e nothing.mrt ] && [ ! -e true.mrt ] && nothing_left
}

# No log, no half of a trace.
nothing_left() {
    [ -z "$(find . -name '*maxrace-log*' -o -name '*.tmp*' -o -name '*.partial')" ] || { find .; return 1; }
}

no_compiler() {
    local line='cannot run the compiler nocc: No such file or directory; MAXRACE_CC or MAXRACE_CXX name another'
    says 4 "$line" env MAXRACE_CC=nocc "$maxrace" cc -c plain.c &&
        says 4 "$line" env MAXRACE_CXX=nocc "$maxrace" c++ -c plain.c &&
        says 4 "$line" "$maxrace" cc -- nocc -c plain.c &&
        ends 1 'no input files' "$maxrace" cc && ends 1 'nofile.c' "$maxrace" cc -c nofile.c &&
        says 2 '-static-pie does not go with recording; build without it' "$maxrace" cc -static-pie plain.c &&
        says 2 '-fsanitize=undefined,address does not go with recording; build without it' "$maxrace" cc -c -fsanitize=undefined,address plain.c &&
        says 2 '-static does not go with recording; build without it' "$maxrace" cc -fno-sanitize=all -static plain.c &&
        "$maxrace" cc -c -fsanitize=address -fno-sanitize=address plain.c
}

# What runs the compiler is a word before it. The compiler is told from other processors: clang then does its own assembly.
launchers() {
    mkdir other && cat >other/ccache <<'END' && cp other/ccache other/aarch64-linux-gnu-clang && chmod +x other/* || return 1
#!/bin/sh
printf '%s\n' "${0##*/}" "$@" >called
END
    "$maxrace" cc -- other/ccache gcc -c plain.c && [ "$(sed -n 2,3p called)" = $'gcc\n-fsanitize=thread' ] &&
        "$maxrace" cc -- other/ccache clang -c plain.c && grep -qx -e -fno-integrated-as called &&
        PATH=$PWD/other:$PATH MAXRACE_CC='ccache  gcc' "$maxrace" cc -c plain.c && [ "$(sed -n 1,2p called)" = $'ccache\ngcc' ] &&
        "$maxrace" cc -- other/ccache -c plain.c && ! grep -qx gcc called &&
        "$maxrace" cc -- other/aarch64-linux-gnu-clang -c plain.c && ! grep -qx -e -fno-integrated-as called || return 1
    for target in --target=aarch64-linux-gnu '-target aarch64-linux-gnu' -m32; do
        "$maxrace" cc -- other/ccache clang $target -c plain.c && ! grep -qx -e -fno-integrated-as called || return 1
    done
    "$maxrace" cc -- other/ccache clang --target=x86_64-linux-gnu -c plain.c && grep -qx -e -fno-integrated-as called &&
        rm -r other called
}

# Two shared mappings of the same bytes are one memory. When the program maps something else over the first one, which is unmapped, while
# the other one is there, that is told once.
mapped_twice() {
    local line='maxrace: a file is mapped twice: some mappings are different memory in the trace, and races between them are missed, or may be false'
    cat >maps.c <<'END'
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>
static void *map(void *at, int fd, int more)
{
    return mmap(at, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | more, fd, 0);
}
int main(int count, char **arguments)
{
    int fd = memfd_create("maps", 0);
    ftruncate(fd, 4096);
    for (int i = 0; i < 2; i++) {
        char *first = map(0, fd, 0), *second = map(0, fd, 0);
        map(second, fd, MAP_FIXED);
        munmap(first, 4096);
        if (count > 1)
            mmap(first, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        munmap(second, 4096);
    }
    return arguments[0] == 0;
}
END
    "$maxrace" cc -g maps.c -o maps && "$maxrace" record -o maps.mrt ./maps 2>said && ! grep -q 'mapped twice' said &&
        "$maxrace" record -o maps.mrt ./maps over 2>said && [ "$(grep -cxF "$line" said)" = 1 ]
}

# Of more shared mappings than are kept nothing is known, which is told once.
many_maps() {
    cat >maps.c <<'END'
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int count, char **arguments)
{
    int fd = memfd_create("maps", 0), pages = count > 1 ? atoi(arguments[1]) : 0;
    ftruncate(fd, (off_t)pages * 4096);
    for (int i = 0; i < pages; i++)
        mmap(0, 4096, PROT_READ, MAP_SHARED, fd, (off_t)i * 4096);
    return 0;
}
END
    "$maxrace" cc -g maps.c -o maps && "$maxrace" record -o maps.mrt ./maps 4096 2>said && ! grep -q 'shared mappings' said &&
        "$maxrace" record -o maps.mrt ./maps 4098 2>said && [ "$(grep -c '^maxrace: more than 4096 shared mappings: ' said)" = 1 ]
}

# A child knows which mappings are the same memory: two of its threads race through different ones, or take one lock through both.
child_maps() {
    cat >maps.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
typedef struct shared {
    pthread_mutex_t lock;
    int x;
} shared;
static int locks;
static void *add(void *argument)
{
    shared *it = argument;
    if (locks)
        pthread_mutex_lock(&it->lock);
    it->x++;
    if (locks)
        pthread_mutex_unlock(&it->lock);
    return 0;
}
int main(int count, char **arguments)
{
    int fd = memfd_create("maps", 0);
    pthread_t first, second;
    pthread_mutexattr_t attributes;
    ftruncate(fd, 4096);
    shared *one = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    shared *other = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&one->lock, &attributes);
    locks = count > 1;
    if (fork() > 0)
        return wait(0) < 0;
    pthread_create(&first, 0, add, one);
    pthread_create(&second, 0, add, other);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return arguments[0] == 0;
}
END
    "$maxrace" cc -g -pthread maps.c -o maps && "$maxrace" record -q --follow-forks -o maps.mrt ./maps || return 1
    "$maxrace" predict -q --brief maps.1.mrt >report
    [ $? -eq 1 ] && grep -q 'race on' report || return 1
    "$maxrace" record -q --follow-forks -o maps.mrt ./maps locks && "$maxrace" predict -q --brief maps.1.mrt >report
}

# A program without libstdc++ opens a plugin that brings it along, or has it linked statically.
brought_library() {
    cat >plugin.cpp <<'END'
#include <map>
extern "C" int size(void)
{
    std::map<int, int> all;
    for (int i = 0; i < 100; i++)
        all[i * 37 % 101] = i;
    all.erase(5);
    return (int)all.size();
}
END
    cat >opens.c <<'END'
#include <dlfcn.h>
int main(void)
{
    void *library = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
    return !library || ((int (*)(void))dlsym(library, "size"))() != 99;
}
END
    printf 'extern "C" int size(void);\nint main() { return size() != 99; }\n' >whole.cpp
    g++ -shared -fPIC plugin.cpp -o plugin.so && "$maxrace" cc opens.c -o opens && "$maxrace" record -q -o opens.mrt ./opens && ./opens &&
        "$maxrace" c++ -static-libstdc++ plugin.cpp whole.cpp -o whole && "$maxrace" record -q -o whole.mrt ./whole && ./whole
}

# An allocator in a library that the program is linked with does not get blocks of glibc.
linked_allocator() {
    cat >allocator.c <<'END'
#include <stddef.h>
#include <stdlib.h>
size_t malloc_usable_size(void *block)
{
    return block == NULL ? 0 : (abort(), 1);
}
END
    cat >uses.c <<'END'
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    char *block = realloc(malloc(8), 4000);
    memset(block, 1, 4000);
    return malloc_usable_size(block) < 4000;
}
END
    gcc -shared -fPIC allocator.c -o liballocator.so &&
        "$maxrace" cc -g uses.c -o uses -L. -Wl,--no-as-needed -lallocator "-Wl,-rpath,$PWD" &&
        ./uses && ends 0 'status 0' "$maxrace" record -o uses.mrt ./uses
}

# What is not compiling or linking comes out as the compiler's own; libraries, several sources, other compilers.
compilers() {
    local compiler
    printf '#ifdef __SANITIZE_THREAD__\nyes gcc\n#elif __has_feature(thread_sanitizer)\nyes clang\n#endif\n' >asked.c
    printf 'extern int x; void *add(void *unused) { x++; return unused; }\n' >part.c
    printf '#include <pthread.h>\nint x; void *add(void *);\nint main(void) { pthread_t a, b; pthread_create(&a, 0, add, 0); pthread_create(&b, 0, add, 0);\nreturn pthread_join(a, 0) + pthread_join(b, 0); }\n' >rest.c
    [ "$("$maxrace" cc --version)" = "$(gcc --version)" ] || return 1
    for compiler in gcc clang; do
        "$maxrace" cc -- $compiler -E -P asked.c | grep -qx "yes $compiler" &&
            "$maxrace" cc -- $compiler -S part.c -o - | grep -q __tsan_write4 &&
            "$maxrace" cc -- $compiler -Wall -Wextra -Werror -c part.c -o part.o -MMD -MF part.d && grep -q part.c part.d &&
            "$maxrace" cc -- $compiler -Wall -Wextra -Werror part.o rest.c -o together -pthread &&
            ends 1 '^Race 1 of 1 on x' "$maxrace" run ./together &&
            "$maxrace" cc -- $compiler -g -Werror -shared -fPIC part.c -o libpart.so &&
            "$maxrace" cc -- $compiler -g -Werror rest.c -L. -lpart -Wl,-rpath,. -o shared -pthread &&
            ends 1 'by add (T1)' "$maxrace" run ./shared &&
            printf 'int main(void) { return 3; }' | "$maxrace" cc -- $compiler -xc - -o three && ends 3 'ended with status 3' "$maxrace" record ./three ||
            { echo "$compiler"; return 1; }
    done
}

# A library that is not recorded counts the users of an object atomically, and the last one destroys its lock, in memory that the
# program gives and takes back: no race. A lock that the program itself destroys beside its own use is one.
foreign_locks() {
    cat >counted.h <<'END'
#include <pthread.h>
typedef struct counted { pthread_mutex_t lock; int users, value; } counted;
void counted_begin(counted *it, int users);
void counted_leave(counted *it, void (*last)(counted *));
END
    cat >counted.c <<'END'
#include "counted.h"
void counted_begin(counted *it, int users) { pthread_mutex_init(&it->lock, 0); it->users = users; it->value = 0; }
void counted_leave(counted *it, void (*last)(counted *))
{
    pthread_mutex_lock(&it->lock);
    it->value++;
    pthread_mutex_unlock(&it->lock);
    if (__atomic_sub_fetch(&it->users, 1, __ATOMIC_ACQ_REL) == 0) { pthread_mutex_destroy(&it->lock); last(it); }
}
END
    cat >user.c <<'END'
#include "counted.h"
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static counted *it;
static void last(counted *gone) { memset(gone, 0, sizeof *gone); free(gone); }
static void *use(void *unused) {
#ifdef OWN
    pthread_mutex_lock(&own);
    pthread_mutex_unlock(&own);
#endif
    counted_leave(it, last);
    return unused;
}
int main(void)
{
    pthread_t a, b;
    it = malloc(sizeof *it);
    counted_begin(it, 2);
    pthread_create(&a, 0, use, 0);
    pthread_create(&b, 0, use, 0);
    pthread_mutex_destroy(&own);
    return pthread_join(a, 0) + pthread_join(b, 0);
}
END
    gcc -g -Werror -shared -fPIC counted.c -o libcounted.so && "$maxrace" cc -g user.c -L. -lcounted -Wl,-rpath,. -o counted -pthread &&
        "$maxrace" cc -g -DOWN user.c -L. -lcounted -Wl,-rpath,. -o counted-own -pthread && ends 0 '^no race' "$maxrace" run --runs 3 ./counted &&
        ends 1 ' on own' "$maxrace" run --runs 3 ./counted-own || return 1
    # Grace periods of liburcu are such counts, too: record says so.
    gcc -g -shared -fPIC -Wl,-soname,liburcu-like.so counted.c -o liburcu-like.so && "$maxrace" cc -g user.c -L. -lurcu-like -Wl,-rpath,. -o like -pthread &&
        ends 0 'inline assembly synchronises in ways that are not recorded' "$maxrace" record -o like.mrt ./like || return 1
    # So are the tasks of the older TBB, and what is not known of GLib when the program calls it, unless the library is recorded.
    local library define
    for library in libtbb.so.2 libglib-2.0.so.0; do
        define=-DAS_IT_IS
        [[ $library != libglib* ]] || { gcc -g -shared -fPIC counted.c -Wl,-soname,$library -o $library && "$maxrace" cc -g user.c ./$library -Wl,-rpath,. -o like -pthread &&
            "$maxrace" record -o like.mrt ./like >out 2>err && ! grep synchronises err && define=-Dcounted_leave=g_dataset_id_leave; } || return 1
        gcc -g $define -shared -fPIC counted.c -Wl,-soname,$library -o $library && "$maxrace" cc -g $define user.c ./$library -Wl,-rpath,. -o like -pthread &&
            ends 0 ' synchronises in ways that are not recorded' "$maxrace" record -o like.mrt ./like &&
            "$maxrace" convert like.mrt - | grep -qE ' unseen (tbb|glib)$' && "$maxrace" cc -g $define -shared -fPIC counted.c -Wl,-soname,$library -o $library &&
            ends 0 'events of' "$maxrace" record -o like.mrt ./like && ! grep synchronises out err || return 1
    done
}

# A program may have functions of its own, in an archive, by the names that the runtime has from other libraries.
own_names() {
    cat >named.c <<'END'
#include <stddef.h>
int calls;
char *g_strdup(const char *text) { calls++; return (char *)text; }
void g_mutex_lock(void *lock) { (void)lock; calls++; }
void *scalable_malloc(size_t bytes) { calls++; return &calls + (bytes == 0); }
int clone(int number) { calls++; return number; }
int tgkill(int number) { calls++; return number; }
END
    cat >names.c <<'END'
#include <stddef.h>
#include <stdio.h>
extern int calls;
char *g_strdup(const char *text);
void g_mutex_lock(void *lock);
void *scalable_malloc(size_t bytes);
int clone(int number);
int tgkill(int number);
int main(void)
{
    int lock = 0;
    g_mutex_lock(&lock);
    if (clone(3) + tgkill(4) != 7)
        return 1;
    return printf("%s %d\n", g_strdup("own"), *(int *)scalable_malloc(4)) < 0;
}
END
    local compiler
    for compiler in gcc clang; do
        command -v $compiler >/dev/null || continue
        MAXRACE_CC=$compiler "$maxrace" cc -g -c named.c && rm -f libnamed.a && ar rc libnamed.a named.o && MAXRACE_CC=$compiler "$maxrace" cc -g names.c -L. -lnamed -o names &&
            ends 0 '^own [45]$' "$maxrace" record -o names.mrt ./names || return 1
        own_names_of_libc || return 1
    done
}

# … or by names of libc, each in a file of its own, with other parameters where it likes.
own_names_of_libc() {
    local name
    rm -f libnamed.a
    for name in getline wcspbrk qsort_r basename crypt connect timer_create getrandom lgamma_r; do
        echo "int $name(int number) { return number + 1; }" >"named-$name.c"
        MAXRACE_CC=$compiler "$maxrace" cc -g -fno-builtin -c "named-$name.c" && ar rc libnamed.a "named-$name.o" || return 1
        echo "int $name(int number);"
    done >named-all.h
    {
        cat named-all.h && echo 'int printf(const char *, ...); int main(void) { return printf("%d own\n", 0'
        printf ' + %s(0)' getline wcspbrk qsort_r basename crypt connect timer_create getrandom lgamma_r
        echo ') < 0; }'
    } >own.c
    MAXRACE_CC=$compiler "$maxrace" cc -w -g -fno-builtin own.c -L. -lnamed -o own && ends 0 '^9 own$' "$maxrace" record -o own.mrt ./own
}

# A library with names of Qt's that is not Qt.
names_of_qt() {
    printf 'struct QMutex { void *d; void lock(); void unlock(); };\n' >alike.h
    printf '#include "alike.h"\nvoid QMutex::lock() { d = this; }\nvoid QMutex::unlock() { d = nullptr; }\n' >alike.cpp
    printf '#include "alike.h"\nint main() { QMutex m{}; m.lock(); bool held = m.d == &m; m.unlock(); return !held; }\n' >user.cpp
    g++ -shared -fPIC alike.cpp -o libalike.so && "$maxrace" c++ -g user.cpp -L. -lalike -Wl,-rpath,. -o user &&
        ends 0 'ended with status 0' "$maxrace" record -o user.mrt ./user
}

# What the assembler says of inline assembly is what it says without calls around it; a comment of C is no end of a line.
assembler() {
    cat >assembler.c <<'END'
int x;
int main(void)
{
    __asm__ volatile("# one; lock\n\n\tlock ; incl %0 # two\n\tlock\n1:\tincl %0\n\tcmpl $0, %0; je 2f; lock; 2: incl %0\n\t.warning \"kept\"" : "+m"(x) : : "memory", "cc");
    __asm__ volatile("/* #1 */ nop; lock; incl %0 # three" : "+m"(x) : : "memory", "cc");
    x += 4;
    __asm__ volatile("/* four */ nop" : : : "memory");
    return x != 8;
}
END
    sed 's/"kept\\"/&\\n\\twrong/' assembler.c >wrong.c
    local file
    for file in assembler wrong; do
        gcc -g -c "$file.c" 2>expected
        "$maxrace" cc -g -c "$file.c" 2>said
        diff expected said || return 1
        "$maxrace" cc -g -pipe -c "$file.c" 2>said
        diff expected said || return 1
    done
    "$maxrace" cc -g -O1 assembler.c -o assembler 2>/dev/null && ./assembler && nm -u assembler | grep -q __maxrace_assembly_begin || return 1
    # The compiler's own instruction gets calls only where the compiler made calls of the other atomic accesses.
    printf '%s\n' 'int x;' '__attribute__((no_sanitize("thread"))) void add(void) { __atomic_fetch_add(&x, 1, 5); }' >own.c
    "$maxrace" cc -g -O1 -c own.c && ! nm -u own.o | grep assembly_begin || return 1
    # A jump that counts bytes: the text stays as it is.
    cat >distance.c <<'END'
int main(void)
{
    int x = 0;
    __asm__ volatile("jmp .+7\n\tlock; incl (%0)\n\tnop\n\tnop" : : "r"(&x) : "memory", "cc");
    return x;
}
END
    "$maxrace" cc -g -O1 distance.c -o distance && ./distance
}

# A try that fails gives the sections of its lock no order among each other: here the second could be first.
failed_try() {
    cat >failed.c <<'END'
#include <pthread.h>
#include <semaphore.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t held, tried;
int x;
static void *try_it(void *unused)
{
    sem_wait(&held);
    if (pthread_mutex_trylock(&lock) == 0)
        pthread_mutex_unlock(&lock);
    sem_post(&tried);
    return unused;
}
static void *after(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    x = 2;
    return unused;
}
int main(void)
{
    pthread_t a, b;
    sem_init(&held, 0, 0);
    sem_init(&tried, 0, 0);
    pthread_create(&a, 0, try_it, 0);
    pthread_mutex_lock(&lock);
    sem_post(&held);
    sem_wait(&tried);
    pthread_mutex_unlock(&lock);
    pthread_create(&b, 0, after, 0);
    x = 1;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return pthread_join(a, 0) + pthread_join(b, 0);
}
END
    "$maxrace" cc -g failed.c -o failed -pthread && "$maxrace" record -q -o failed.mrt ./failed && "$maxrace" convert failed.mrt - | grep -q 'ar.rlx(lock.held=1)' &&
        ends 1 '^1 race' "$maxrace" predict --model rf failed.mrt && ends 1 '^1 static race of wcp' "$maxrace" order --relation wcp failed.mrt
}

# gcc would leave out the call, whose only effect is a write that nobody reads.
dead_write() {
    cat >dead_write.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) static void release(int *of) { free(of); }
__attribute__((noinline)) static void change(int *of) { of[0] = 1; }
int main(void)
{
    int *numbers = malloc(100);
    release(numbers);
    change(numbers);
    return 0;
}
END
    "$maxrace" cc -g -O1 -w dead_write.c -o dead_write && "$maxrace" record -q -o dead_write.mrt -- ./dead_write &&
        ends 1 '1 error observed' "$maxrace" predict -q dead_write.mrt
}

# Up to C++17 members of std::string come from libstdc++, unless maxrace has them compiled into the program: nothing would tell that
# the string had another block before the first one was freed.
strings() {
    cat >strings.cpp <<'END'
#include <mutex>
#include <string>
#include <thread>
static std::string text = "a text that is longer than any small buffer";
static std::mutex lock;
int main()
{
    char seen = 0;
    std::thread one([&] { std::lock_guard<std::mutex> hold(lock); seen = text[3]; });
    std::thread two([] { std::lock_guard<std::mutex> hold(lock); text += ", and now a longer one that has to move"; });
    one.join();
    two.join();
    return seen != 'e' || text.size() != 82;
}
END
    for compiler in g++ clang++; do
        command -v $compiler >/dev/null || continue
        MAXRACE_CXX=$compiler $maxrace c++ -std=c++17 -g -O1 strings.cpp -o strings || return 1
        for seed in 1 2 3; do
            $maxrace record -q --seed $seed -o strings.mrt -- ./strings && $maxrace predict -q strings.mrt >strings.txt || { cat strings.txt; return 1; }
        done
    done
}

# Checked copies of _FORTIFY_SOURCE are seen, however it is asked for.
fortified() {
    cat >fortified.c <<'END'
#ifndef _FORTIFY_SOURCE
#define _FORTIFY_SOURCE 2
#endif
#include <pthread.h>
#include <string.h>
static char text[64], copy[64];
static void *put(void *from) { memcpy(text, from, sizeof text); return from; }
int main(void)
{
    static char source[64];
    pthread_t thread;
    pthread_create(&thread, 0, put, source);
    memcpy(copy, text, sizeof copy);
    return pthread_join(thread, 0) + copy[7];
}
END
    local flag
    for flag in -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -Wp,-D_FORTIFY_SOURCE=2; do
        "$maxrace" cc -g -O2 -Wall -Werror "$flag" fortified.c -o fortified -pthread && ends 1 '^1 race' "$maxrace" run ./fortified || return 1
    done
}

# Built for recording, a program runs as always when nobody records.
not_recorded() {
    ./plain && [ ! -e plain.mrt ] && [ "$(./talk a)" = "hello a" ]
}

flags() {
    ends 0 '^maxrace: plain.mrt: [0-9]* events of 3 threads' "$maxrace" record ./plain && [ -s plain.mrt ] &&
        ends 1 '^1 race' "$maxrace" predict plain.mrt &&
        ends 7 '^maxrace: b.mrt: .* the program ended with status 7' "$maxrace" record -o b.mrt --seed 5 -- ./talk a b && grep -qx 'hello a b' out &&
        ends 7 '^hello -o x' "$maxrace" record -q ./talk -o x && [ ! -s err ] && [ ! -e x ] &&
        "$maxrace" record -q --record-local -o local.mrt ./plain && [ "$(events local.mrt)" -gt "$(events plain.mrt)" ]
}

# The report has the standard output; the program's goes to standard error.
run_outputs() {
    ends 0 '^no race' "$maxrace" run ./talk a && grep -qx 'hello a' err && ! grep -q hello out &&
        ends 0 '^hello a' "$maxrace" run -o report ./talk a && grep -q '^no race' report
}

# Each race is reported once, however many runs have it.
runs_united() {
    local runs='1' known='2'
    ends 1 '.' "$maxrace" run --runs 3 --traces kept -o report ./plain &&
        [ "$(grep -c '^Run . of 3, seed .$' report)" = 3 ] && [ "$(grep -c '^Race 1 of 1 on x' report)" = $runs ] &&
        [ "$(grep -c '^1 race known from earlier runs$' report)" = $known ] && [ "$(tail -n 1 report)" = '1 race in 3 runs' ] &&
        [ "$(echo kept/*)" = 'kept/seed-1.mrt kept/seed-2.mrt kept/seed-3.mrt' ] && ends 1 '^Race 1 of 1' "$maxrace" predict kept/seed-2.mrt &&
        ends 1 '^{"runs":\[$' "$maxrace" run --seed 8 --runs 2 --format json ./plain &&
        grep -q '^{"seed":8,"exit_status":0,"report":$' out && grep -q '^{"seed":9,' out &&
        grep -q '"known_races":0}' out && [ "$(tail -n 1 out)" = ',"known_races":1}],"races":1}' ] || { cat report out; return 1; }
}

# Suppressions and baselines of runs; TSAN_OPTIONS, as the program with ThreadSanitizer would have read it.
suppressed() {
    printf 'race:^add$\n' >add.supp
    ends 0 '^no race.*, 1 suppressed$' "$maxrace" run --suppressions add.supp ./together &&
        ends 0 '^no static race of shb' "$maxrace" run --quick --suppressions add.supp ./together && grep -qx 'maxrace: 1 suppressed' err &&
        ends 66 '^1 race ' env TSAN_OPTIONS=exitcode=66 "$maxrace" run ./together &&
        ends 0 '^no race' env TSAN_OPTIONS="suppressions='add.supp':exitcode=66,halt_on_error=1" "$maxrace" run ./together &&
        ends 1 '2 of 3 runs were not started' env TSAN_OPTIONS=halt_on_error=1 "$maxrace" run --runs 3 ./together &&
        ends 1 ' in 3 runs$' env TSAN_OPTIONS=halt_on_error=1 "$maxrace" run --runs 3 --no-halt-on-finding ./together &&
        ends 1 ' at er+0x' env TSAN_OPTIONS=strip_path_prefix=togeth "$maxrace" run ./together &&
        ends 2 '' env TSAN_OPTIONS=exitcode=x "$maxrace" run ./together &&
        ends 1 '' env TSAN_OPTIONS=log_path=report-of "$maxrace" run ./together && grep -q '^1 race ' report-of.* &&
        ends 1 '' "$maxrace" run --runs 2 --format json -o base.json ./together && grep -q '"fingerprint"' base.json &&
        ends 0 '^1 race .*1 known by the baseline, 0 new$' "$maxrace" run --seed 5 --baseline base.json --fail-on new ./together
}

# Suppressions of the program itself, in the parent and in a child with a trace of its own. A long line is not cut off.
own_suppressions() {
    cat >own.c <<'END'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
extern const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "# known\n\n  race:^add$ \nrace:" LONG "\nrace:unused";
}
static int x, y;
static void *add(void *p) { x++; return p; }
static void *more(void *p) { y++; return p; }
static void both(void *(*run)(void *))
{
    pthread_t a, b;
    pthread_create(&a, 0, run, 0);
    pthread_create(&b, 0, run, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
int main(void)
{
    both(add);
    both(more);
    if (fork() == 0) {
        both(add);
        _exit(0);
    }
    return wait(0) < 0;
}
END
    "$maxrace" cc -g -O1 -pthread "-DLONG=\"$(printf '%0600d' 0)\"" own.c -o own &&
        ends 0 '' "$maxrace" record --follow-forks -o own.mrt ./own && grep -q 'a suppression of the program is too long' err &&
        ends 1 '^1 race .*, 1 suppressed (1 by the program itself)$' "$maxrace" predict own.mrt && ! grep -q '^Unused' out &&
        ends 0 ', 1 suppressed (1 by the program itself)$' "$maxrace" predict own.1.mrt &&
        ends 1 '' "$maxrace" run --quick ./own && grep -qx 'maxrace: 1 suppressed' err &&
        "$maxrace" convert own.mrt own.std && grep -qx '#@end suppression race:^add\$' own.std && [ "$(grep -c '^#@end suppression' own.std)" = 2 ]
}

# run --quick reports the races of the recorded order with a witness, says what it covers, and reports a race once. What only
# another order shows it does not report, and predict does. Errors that happened are reported, and how the program ended, once.
quick() {
    local seed hidden=0 covers='^covers the recorded order only: races that other orders'
    "$maxrace" cc -g -O1 -pthread "$sources/plain-race.c" -o plain_race &&
        "$maxrace" cc -g -O1 -pthread "$sources/plain-safe.c" -o plain_safe &&
        "$maxrace" cc -g -O0 -pthread "$sources/hidden-race.c" -o hidden || return 1
    printf '#include <stdlib.h>\nint main(void) { int *p = malloc(8); *p = 3; free(p); return *(volatile int *)p; }\n' >freed.c
    "$maxrace" cc -g -O0 freed.c -o freed 2>said || { cat said; return 1; }
    for seed in 1 2 3 4 5 6 7 8; do
        ends 1 '^1 race' "$maxrace" run --seed $seed ./hidden || return 1
        "$maxrace" run --quick --seed $seed ./hidden 2>/dev/null | grep -q '^no static race of shb' && hidden=1
    done
    [ $hidden = 1 ] && ends 1 "$covers" "$maxrace" run --quick ./plain_race &&
        ends 1 'proof   a race of shb; witness of .*, accepted by the checker$' "$maxrace" run --quick ./plain_race &&
        ends 0 "$covers" "$maxrace" run --quick ./plain_safe &&
        ends 1 '^1 race in 3 runs$' "$maxrace" run --quick --runs 3 ./plain_race &&
        ends 1 '^1 race known from earlier runs$' "$maxrace" run --quick --runs 3 ./plain_race &&
        ends 1 '^Observed 1 of 1: main (T0) uses memory that was freed' "$maxrace" run --quick ./freed &&
        ends 1 '^1 error observed, no static race of shb' "$maxrace" run --quick ./freed &&
        ends 1 '"kind":"use-after-free"' "$maxrace" run --quick --format json ./freed &&
        [ "$("$maxrace" run --quick ./freed 2>/dev/null | grep -c '^the program ended with status 3$')" -eq 1 ] &&
        ends 1 'plain-race.c:[0-9:]*: race on .* between .* (static race 1; proven)$' "$maxrace" run --quick ./plain_race &&
        [ "$("$maxrace" run --quick --brief --runs 3 ./plain_race 2>/dev/null | grep -c .)" -eq 1 ] &&
        [ "$("$maxrace" run --quick --brief ./plain_race 2>/dev/null | grep -c 'plain-race.c:[0-9:]*: race on .* and .*(proven)$')" -eq 1 ] &&
        ends 1 '"covers":"recorded order"' "$maxrace" run --quick --format json ./plain_race &&
        ends 1 '^relation shb: ' "$maxrace" run --quick -c relation.yaml ./plain_race &&
        ends 1 '^the program was ended by signal 6' "$maxrace" run --quick ./ending ab
}

# Names come from the cache the second time, and the traces are the same; also when it is damaged, switched off, or not
# writable, and when the program was stripped since.
symbol_cache() {
    local file
    unset MAXRACE_SYMBOL_CACHE
    export XDG_CACHE_HOME=$scratch/symbols
    "$maxrace" record -q -o cold.mrt ./nested && "$maxrace" record -q -o warm.mrt ./nested && cmp cold.mrt warm.mrt || return 1
    ls symbols/maxrace/symbols/*.answers || return 1
    for file in symbols/maxrace/symbols/*; do echo damage >>"$file"; done
    "$maxrace" record -q -o damaged.mrt ./nested && cmp cold.mrt damaged.mrt || return 1
    rm -r symbols
    MAXRACE_SYMBOL_CACHE='' "$maxrace" record -q -o off.mrt ./nested && cmp cold.mrt off.mrt && [ ! -e symbols ] || return 1
    MAXRACE_SYMBOL_CACHE=$scratch/nested/no "$maxrace" record -q -o uncached.mrt ./nested && cmp cold.mrt uncached.mrt || return 1
    MAXRACE_SYMBOL_CACHE=$scratch/named "$maxrace" record -q -o named.mrt ./nested && cmp cold.mrt named.mrt && ls named/*.answers || return 1
    cp nested whole && strip nested && "$maxrace" record -q -o stripped.mrt ./nested
    mv whole nested
    ! "$maxrace" convert stripped.mrt - | grep 'nested.c:'
}

# Another schedule is another trace, the same one is the same, byte for byte.
schedules() {
    local schedule
    for schedule in random pct os; do
        ends 0 'ended with status 0' "$maxrace" record --record-inputs no --schedule $schedule --seed 3 -o one.mrt ./crowd && ends 1 '^Race' "$maxrace" predict one.mrt || return 1
        [ $schedule != os ] || continue
        "$maxrace" record -q --record-inputs no --schedule $schedule --seed 3 -o two.mrt ./crowd && mv one.mrt $schedule.mrt && mv two.mrt one.mrt &&
            "$maxrace" record -q --record-inputs no --schedule $schedule --seed 4 -o other.mrt ./crowd || return 1
        cmp $schedule.mrt one.mrt || { echo "$schedule: the same seed gave another trace"; return 1; }
        ! cmp -s $schedule.mrt other.mrt || { echo "$schedule: another seed gave the same trace"; return 1; }
    done
    ! cmp -s random.mrt pct.mrt
}

# What is excluded by place or function becomes a call; what called it still stands in the stacks of the rest.
excluded() {
    "$maxrace" record -q -o whole.mrt ./nested && ends 1 '^2 races' "$maxrace" predict whole.mrt || return 1
    "$maxrace" record -q --record-exclude 'log_*' -o rest.mrt ./nested && ends 1 '^1 race ' "$maxrace" predict rest.mrt || return 1
    grep -q '^ *by middle at nested.c' out && ! grep -q 'log_it' out && "$maxrace" convert rest.mrt - | grep -q '|mbegin(' || { cat out; return 1; }
    "$maxrace" record -q --record-exclude 'none,nested.c:*' -o rest.mrt ./nested 2>said && ends 0 '^no race' "$maxrace" predict rest.mrt || return 1
    grep -qx "maxrace: record.exclude: the pattern 'none' matches no place and no function of the trace" said && [ "$(wc -l <said)" = 1 ] || { cat said; return 1; }
    ends 1 '^1 race ' "$maxrace" predict --candidates-ignore-locations 'log_*,nested.c:*x' whole.mrt || return 1
    grep -q "ignore_locations: the pattern 'nested.c:\*x' matches no place" out err || { cat out; return 1; }
    printf 'record:\n  exclude: log_*\n' >exclude.yaml
    ends 1 '^1 race ' "$maxrace" run -c exclude.yaml ./nested && nothing_left
}

# ended HOW STATUS PATTERN: the program that ends so has a trace with a race up to there.
ended() {
    ends "$2" "$3" "$maxrace" record -o end.mrt ./ending "$1" && ends 1 '^Race 1 of 1 on x' "$maxrace" predict end.mrt && nothing_left
}

bad_ends() {
    ended abort 134 'ended by signal 6 (Aborted)' && ended crash 139 'ended by signal 11 (Segmentation fault)' && ended kill 137 'ended by signal 9 (Killed)' &&
        ended exit 5 'ended with status 5' && ended thread 6 'ended with status 6' && ended exec 0 'replaced itself by another one, which is not recorded'
}

max_events() {
    local count
    ends 0 'recording ended at --max-events; the program went on' "$maxrace" record --max-events 2000 -o few.mrt ./crowd && "$maxrace" convert few.mrt few.std || return 1
    count=$(events few.mrt)
    [ "$count" -gt 100 ] && [ "$count" -le 2000 ] || { echo "$count events"; return 1; }
    # What main does before it makes a thread is not counted.
    cat >alone.c <<'END'
#include <pthread.h>
static volatile int numbers[100], word;
static void *change(void *none)
{
    for (int i = 0; i < 5000; i++)
        word++;
    return none;
}
int main(int count, char **arguments)
{
    pthread_t threads[2];
    (void)arguments;
    for (int i = 0; i < 7000; i++)
        numbers[i % 100] = i;
    for (int i = 0; count > 1 && i < 2; i++)
        pthread_create(&threads[i], 0, change, 0);
    for (int i = 0; count > 1 && i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
END
    "$maxrace" cc -g -O1 alone.c -o alone || return 1
    ends 0 'recording ended at --max-events; the program went on' "$maxrace" record --max-events 1000 -o alone.mrt ./alone threads && ends 1 '^Race 1 of ' "$maxrace" predict alone.mrt || return 1
    count=$(events alone.mrt)
    [ "$count" -gt 100 ] && [ "$count" -le 2000 ] || { echo "$count events after the first thread"; return 1; }
    "$maxrace" record --max-events 1000 -o alone.mrt ./alone 2>said && ! grep 'max-events' said
}

# A file may not grow beyond 8 MiB: the program goes on and there is a trace up to there.
full_disk() {
    (
        ulimit -f 8192
        ends 0 'recording ended because the log could not grow' "$maxrace" record -o full.mrt ./crowd many
    ) && ends 1 '^Race' "$maxrace" predict full.mrt && [ "$(events full.mrt)" -gt 1000 ] && nothing_left || return 1
    # No room for anything: the program runs, neither log nor trace is left.
    (
        ulimit -f 1
        timeout 60 "$maxrace" record -o none.mrt ./talk 2>&1 | cat >said
        [ "${PIPESTATUS[0]}" -eq 4 ]
    ) && grep -qx 'hello' said && grep -q ': nothing was recorded: there is no room for the log$' said && [ ! -e none.mrt ] && nothing_left || { cat said; return 1; }
}

makefile() {
    mkdir make && printf 'program: main.o part.o\n\t$(CC) $(LDFLAGS) $^ -o $@ -lpthread\n' >make/Makefile && cp part.c make/ && cp rest.c make/main.c || return 1
    env -u MAKEFLAGS -u MAKELEVEL make -s -C make CC="$maxrace cc" CFLAGS='-g -O1' && ends 1 '^Race 1 of 1 on x' "$maxrace" run make/program
}

# A test of a compiler as configure makes it: what cannot be compiled or linked fails, what can runs.
configured() {
    local compiler="$maxrace cc"
    echo 'int main(void) { return 0; }' >conftest.c
    echo 'int main(void) { return absent(); } ' >absent.c
    $compiler -o conftest conftest.c 2>err && ./conftest && [ ! -s err ] && ! $compiler -o absent absent.c -labsent 2>err &&
        ! $compiler -Werror -c absent.c 2>err && $compiler -c conftest.c && [ -e conftest.o ] && $compiler -E conftest.c | grep -q main &&
        $compiler -v >err 2>&1 && $compiler -print-prog-name=ld | grep -q ld
}

cmake_project() {
    mkdir cmake cmake/build && cp part.c rest.c cmake/ || return 1
    cat >cmake/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.10)
project(program C CXX)
find_package(Threads REQUIRED)
add_library(part SHARED part.c)
add_executable(program rest.c)
target_link_libraries(program part Threads::Threads)
END
    (cd cmake/build && CC="$maxrace cc" CXX="$maxrace c++" cmake -DCMAKE_BUILD_TYPE=Debug .. && env -u MAKEFLAGS -u MAKELEVEL cmake --build .) >said 2>&1 || { cat said; return 1; }
    ends 1 '^Race 1 of 1 on x' "$maxrace" run cmake/build/program
}

# Programs of these tests.
cp "$sources/plain-race.c" plain.c
cat >talk.c <<'END'
#include <stdio.h>
int main(int argc, char **argv)
{
    printf("hello");
    for (int i = 1; i < argc; i++)
        printf(" %s", argv[i]);
    puts("");
    return argc > 2 ? 7 : 0;
}
END
cat >crowd.c <<'END'
#include <pthread.h>
static int x, rounds = 2000;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused)
{
    x++;
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&mu);
        x++;
        pthread_mutex_unlock(&mu);
    }
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t threads[3];
    (void)argv;
    if (argc > 1)
        rounds = 40000;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
END
cat >nested.c <<'END'
#include <pthread.h>
static int lines, x;
static void log_it(void) { lines++; }
static void inner(void) { x++; }
static void middle(void) { inner(); log_it(); }
static void *work(void *unused) { middle(); return unused; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
END
cat >ending.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static int x, *nowhere;
static void *work(void *unused) { x = 1; return unused; }
static void *leave(void *unused) { _exit(6); return unused; }
int main(int argc, char **argv)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    switch (argc > 1 ? argv[1][0] + argv[1][1] : 0) {
    case 'a' + 'b': abort();
    case 'c' + 'r': *nowhere = 1; break;
    case 'k' + 'i': kill(getpid(), SIGKILL); break;
    case 'e' + 'x':
        if (argv[1][2] == 'e')
            execl("/bin/true", "true", (char *)0);
        _exit(5);
    case 't' + 'h':
        pthread_create(&a, 0, leave, 0);
        pthread_join(a, 0);
    }
    return 0;
}
END
cat >relation.yaml <<'END'
relation: hb
END
build() {
    local program
    for program in plain talk crowd nested ending; do
        "$maxrace" cc -g -O0 -pthread $program.c -o $program || return 1
    done
}

check record_commands_build build
check record_commands_bad_usage bad_usage
check record_commands_no_program no_program
check record_commands_no_compiler no_compiler
check record_commands_launchers launchers
check record_commands_mapped_twice mapped_twice
check record_commands_many_maps many_maps
check record_commands_child_maps child_maps
check record_commands_brought_library brought_library
check record_commands_linked_allocator linked_allocator
needs clang record_commands_compilers && check record_commands_compilers compilers
check record_commands_not_recorded not_recorded
check record_commands_foreign_locks foreign_locks
check record_commands_own_names own_names
check record_commands_names_of_qt names_of_qt
check record_commands_assembler assembler
check record_commands_failed_try failed_try
check record_commands_fortified fortified
check record_commands_strings strings
check record_commands_dead_write dead_write
check record_commands_flags flags
check record_commands_run_outputs run_outputs
check record_commands_runs_united runs_united
check record_commands_quick quick
check record_commands_symbol_cache symbol_cache
check record_commands_schedules schedules
check record_commands_excluded excluded
check record_commands_suppressed suppressed
check record_commands_own_suppressions own_suppressions
check record_commands_bad_ends bad_ends
check record_commands_max_events max_events
check record_commands_full_disk full_disk
check record_commands_makefile makefile
check record_commands_configured configured
needs cmake record_commands_cmake_project && check record_commands_cmake_project cmake_project
[ $failures -eq 0 ]
