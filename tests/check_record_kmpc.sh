#!/usr/bin/env bash
# Programs with OpenMP of clang, whose library the recording stands in for: what is safe has no race and nothing unseen, works as without the
# recording, and its trace is the same each time; what races is found and replayed. TEST_LENGTH=full: from seeds 1 to 3, not 3 alone. Prints
# "[       OK ] name", or the reason and "[  FAILED  ] name".
. "$(dirname "$0")/support/openmp_programs.sh"
. "$(dirname "$0")/support/in_scratch.sh"
unset MAXRACE_CXX OMP_NUM_THREADS OMP_SCHEDULE OMP_NESTED OMP_MAX_ACTIVE_LEVELS
if [ "${TEST_LENGTH:-}" = full ]; then seeds='1 2 3'; else seeds=3; fi
export MAXRACE_CC=clang OMP_NUM_THREADS=3 OMP_STACKSIZE=16m

cat >constructs.c <<'END'
#include <omp.h>
#include <stdbool.h>
#include <string.h>

enum { COUNT = 24 };
static int word, other, numbers[COUNT], more[COUNT];
static int own;
#pragma omp threadprivate(own)

static bool are_numbers(void)
{
    for (int i = 0; i < COUNT; i++)
        if (numbers[i] != i)
            return false;
    return true;
}

static bool loops(void)
{
    int sum = 0, last = 0;
#pragma omp parallel
    {
#pragma omp for schedule(static, 2)
        for (int i = 0; i < COUNT; i++)
            more[i] = i;
#pragma omp for schedule(dynamic, 3) lastprivate(last)
        for (int i = COUNT - 1; i >= 0; i--) {
            numbers[i] = more[i];
            last = i;
        }
#pragma omp for schedule(guided) nowait
        for (unsigned i = 0; i < COUNT; i++)
            more[i] = (int)i;
#pragma omp for reduction(+ : sum) schedule(runtime)
        for (long i = 0; i < COUNT; i++) {
            sum += numbers[i];
        }
#pragma omp for collapse(2)
        for (int i = 0; i < 4; i++)
            for (unsigned long j = 0; j < COUNT / 4; j++)
                more[i * (COUNT / 4) + (int)j] = sum;
    }
    return are_numbers() && sum == COUNT * (COUNT - 1) / 2 && last == 0 && more[COUNT - 1] == sum;
}

static bool race_loop(void)
{
#pragma omp parallel for
    for (int i = 0; i < COUNT; i++)
        word = i;
    return true;
}

static bool race_dynamic(void)
{
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < COUNT; i++)
        if (i == 3 || i == 13)
            word = i;
    return true;
}

static bool barriers(void)
{
    int seen = 0;
#pragma omp parallel reduction(+ : seen)
    {
        numbers[omp_get_thread_num()] = 1;
#pragma omp barrier
        for (int i = 0; i < omp_get_num_threads(); i++)
            seen += numbers[i];
#pragma omp barrier
        numbers[omp_get_thread_num()] = 2;
    }
    return seen == 9;
}

static bool race_barrier(void)
{
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < COUNT; i++)
            if (i == 2)
                word = 1;
#pragma omp for
        for (int i = 0; i < COUNT; i++)
            if (i == COUNT - 1)
                numbers[i] = word;
    }
    return true;
}

static bool singles(void)
{
    int sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        int mine = 0;
#pragma omp single copyprivate(mine)
        mine = ++word;
        sum += mine;
#pragma omp single
        word = 7;
        sum += word;
#pragma omp master
        numbers[0] = 1;
#pragma omp barrier
        sum += numbers[0];
    }
    return sum == 3 * 9;
}

static bool race_single(void)
{
#pragma omp parallel
    {
#pragma omp single nowait
        word = 1;
        numbers[omp_get_thread_num()] = word;
    }
    return true;
}

static bool race_master(void)
{
#pragma omp parallel
    {
#pragma omp master
        word = 1;
        numbers[omp_get_thread_num()] = word;
    }
    return true;
}

static bool criticals(void)
{
    int sum = 0;
#pragma omp parallel
    {
#pragma omp critical
        word++;
#pragma omp critical(name)
        other++;
#pragma omp atomic
        sum++;
    }
    return word == 3 && other == 3 && sum == 3;
}

static bool race_critical(void)
{
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0) {
#pragma omp critical
            word++;
        } else {
#pragma omp critical(name)
            word++;
        }
    }
    return true;
}

static bool race_atomic(void)
{
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0)
            word = 5;
#pragma omp atomic
        word++;
    }
    return true;
}

static bool locks(void)
{
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel
    {
        omp_set_lock(&lock);
        word++;
        omp_unset_lock(&lock);
        while (!omp_test_lock(&lock))
            ;
        word++;
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        other++;
        omp_unset_nest_lock(&nest);
        other++;
        omp_unset_nest_lock(&nest);
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    return word == 6 && other == 6;
}

static bool race_locks(void)
{
    omp_lock_t all[2];
    omp_init_lock(&all[0]);
    omp_init_lock(&all[1]);
#pragma omp parallel
    {
        omp_lock_t *mine = &all[omp_get_thread_num() & 1];
        omp_set_lock(mine);
        word++;
        omp_unset_lock(mine);
    }
    return true;
}

static bool ordered(void)
{
    int next = 0;
#pragma omp parallel for ordered schedule(dynamic)
    for (int i = 0; i < COUNT; i++) {
        more[i] = i;
        if (i % 3 != 0) {
#pragma omp ordered
            numbers[next++] = i;
        }
    }
#pragma omp parallel for ordered(1)
    for (int i = 1; i < COUNT; i++) {
#pragma omp ordered depend(sink : i - 1)
        more[i] = more[i - 1] + 1;
#pragma omp ordered depend(source)
    }
    return next == COUNT * 2 / 3 && numbers[0] == 1 && more[COUNT - 1] == COUNT - 1;
}

static bool race_ordered(void)
{
#pragma omp parallel for ordered schedule(static, 1)
    for (int i = 0; i < COUNT; i++) {
#pragma omp ordered
        numbers[i] = i;
        word = i;
    }
    return true;
}

static bool race_doacross(void)
{
#pragma omp parallel for ordered(1)
    for (int i = 2; i < COUNT; i++) {
#pragma omp ordered depend(sink : i - 2)
        word = i;
#pragma omp ordered depend(source)
    }
    return true;
}

static bool sections(void)
{
    int last = 0;
#pragma omp parallel sections lastprivate(last)
    {
#pragma omp section
        last = word = 1;
#pragma omp section
        last = other = 2;
    }
    return word == 1 && other == 2 && last == 2;
}

static bool race_sections(void)
{
#pragma omp parallel sections
    {
#pragma omp section
        word = 1;
#pragma omp section
        word = 2;
    }
    return true;
}

static int leaves(int depth)
{
    int left, right;
    if (depth == 0)
        return 1;
#pragma omp task shared(left)
    left = leaves(depth - 1);
#pragma omp task shared(right) untied
    right = leaves(depth - 1);
#pragma omp taskwait
    return left + right;
}

static bool tasks(void)
{
    int count = 0, first = 0, second = 0;
#pragma omp parallel
    {
#pragma omp single
        count = leaves(4);
#pragma omp single
        {
#pragma omp taskgroup
            {
#pragma omp task
                {
#pragma omp task
                    first = 1;
                }
#pragma omp task if (0)
                second = 1;
            }
            first += second;
#pragma omp task final(1)
            {
#pragma omp task
                word = 4;
                word++;
            }
        }
        numbers[omp_get_thread_num()] = word;
    }
    return count == 16 && first == 2 && word == 5 && numbers[2] == 5;
}

static bool race_tasks(void)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
        word++;
#pragma omp task
        word++;
    }
    return true;
}

static bool race_taskwait(void)
{
    int seen = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
        {
#pragma omp task
            word = 1;
        }
#pragma omp taskwait
        seen = word;
    }
    return seen < 2;
}

static bool dependences(void)
{
    int total = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : word)
        word = 1;
#pragma omp task depend(in : word) depend(out : numbers[0])
        numbers[0] = word;
#pragma omp task depend(in : word) depend(out : numbers[1])
        numbers[1] = word;
#pragma omp task depend(inout : word) depend(in : numbers[0], numbers[1])
        word += numbers[0] + numbers[1];
#pragma omp task depend(in : word) if (0)
        total = word;
        for (int i = 0; i < 3; i++) {
#pragma omp task depend(mutexinoutset : other)
            other++;
        }
#pragma omp taskwait depend(in : other)
        total += other;
    }
    return total == 6;
}

static bool race_dependences(void)
{
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : other)
        word = 1;
#pragma omp task depend(in : other)
        numbers[0] = word;
#pragma omp task depend(in : other)
        word = 2;
    }
    return true;
}

static bool taskloops(void)
{
    int sum = 0, total = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop grainsize(3)
        for (int i = 0; i < COUNT; i++)
            numbers[i] = i;
#pragma omp taskloop num_tasks(5) reduction(+ : sum)
        for (int i = 0; i < COUNT; i++)
            sum += numbers[i];
#pragma omp taskgroup task_reduction(+ : total)
        {
            for (int i = 0; i < 4; i++) {
#pragma omp task in_reduction(+ : total)
                total += i;
            }
        }
    }
    return are_numbers() && sum == COUNT * (COUNT - 1) / 2 && total == 6;
}

static bool race_taskloop(void)
{
#pragma omp parallel
#pragma omp single
#pragma omp taskloop
    for (int i = 0; i < COUNT; i++)
        word = i;
    return true;
}

static bool nested(void)
{
    int count = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
        int mine = omp_get_thread_num();
#pragma omp parallel num_threads(2) reduction(+ : count)
        {
            numbers[mine * 2 + omp_get_thread_num()] = omp_get_ancestor_thread_num(1) == mine;
            count += omp_get_level() == 2 && omp_get_team_size(1) == 2;
        }
    }
#pragma omp parallel if (0)
    count += omp_get_num_threads();
    return count == 5 && numbers[0] + numbers[1] + numbers[2] + numbers[3] == 4;
}

static bool race_nested(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1)
        word++;
    return true;
}

static bool threads_own(void)
{
    int sum = 0;
    own = 1;
#pragma omp parallel copyin(own)
    own += omp_get_thread_num();
#pragma omp parallel reduction(+ : sum)
    sum += own;
#pragma omp teams distribute parallel for
    for (int i = 0; i < COUNT; i++)
        numbers[i] = i;
    return sum == 6 && are_numbers();
}

static bool detached(void)
{
    omp_event_handle_t event;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task detach(event) depend(out : word)
        word = 1;
#pragma omp task firstprivate(event)
        {
            other = 3;
            omp_fulfill_event(event);
        }
#pragma omp task depend(in : word)
        numbers[0] = word + other;
    }
    return numbers[0] == 4;
}

static bool reductions(void)
{
    int most = -1;
    double least = COUNT, product = 1;
#pragma omp parallel for reduction(max : most)
    for (int i = 0; i < COUNT; i++)
        most = i > most ? i : most;
#pragma omp parallel for reduction(min : least) reduction(* : product)
    for (int i = 1; i < COUNT; i++) {
        least = i < least ? i : least;
        product *= i % 2 + 1;
    }
    return most == COUNT - 1 && least == 1 && product == 4096;
}

/* What a region or a task sets is gone when it ends. */
static bool settings(void)
{
    int team = 0, inner = 0, kind_seen = 0, chunk_seen = 0;
    omp_sched_t kind;
    omp_set_max_active_levels(2);
    omp_set_schedule(omp_sched_dynamic, 5);
#pragma omp parallel num_threads(2)
    {
        omp_set_num_threads(1);
        omp_set_max_active_levels(1);
        omp_set_schedule(omp_sched_static, 0);
    }
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) {
#pragma omp task
        omp_set_num_threads(1);
#pragma omp taskwait
        omp_set_num_threads(2);
#pragma omp parallel
        if (omp_get_thread_num() == 0)
            inner = omp_get_num_threads();
    }
#pragma omp parallel
    if (omp_get_thread_num() == 0)
        team = omp_get_num_threads();
    omp_get_schedule(&kind, &chunk_seen);
    kind_seen = kind == omp_sched_dynamic;
    omp_set_schedule(omp_sched_auto, 7);
    omp_get_schedule(&kind, &numbers[0]);
    omp_set_dynamic(1);
    return team == 3 && inner == 2 && kind_seen && chunk_seen == 5 && numbers[0] == 1 && omp_get_dynamic();
}

/* More than a thread has without OMP_STACKSIZE. */
static bool stacks(void)
{
#pragma omp parallel
    if (omp_get_thread_num() > 0) {
        volatile char room[12 << 20];
        room[0] = (char)omp_get_thread_num();
        numbers[omp_get_thread_num()] = room[0];
    }
    return numbers[2] == 2;
}

int main(int count, char **names)
{
    static const struct {
        const char *name;
        bool (*function)(void);
    } all[] = {ALL};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (count == 2 && !strcmp(names[1], all[i].name))
            return !all[i].function();
    return 2;
}
END

record() {
    timeout 60 "$maxrace" record --seed "$2" --record-inputs no -o trace.mrt ./constructs "$1" >out 2>err </dev/null || { echo "seed $2: status $?"; cat out err; return 1; }
    ! grep 'not recorded\|no recorded write' err
}

is_safe() {
    local seed
    ./constructs "$1" || { echo 'not recorded: wrong'; return 1; }
    for seed in $seeds; do
        record "$1" $seed && cp trace.mrt first.mrt && "$maxrace" predict trace.mrt >report || { cat report; return 1; }
    done
    record "$1" 3 && cmp first.mrt trace.mrt
}

races() {
    local seed
    for seed in $seeds; do
        record "$1" $seed || return 1
        "$maxrace" predict trace.mrt >report && { echo "seed $seed: no race"; return 1; }
        grep -q 'race on word ' report || { cat report; return 1; }
        "$maxrace" replay trace.mrt >report 2>&1
        grep -q '^\([0-9]*\) of \1 confirmed' report || { echo "seed $seed:"; cat report; return 1; }
    done
}

# OMP_NUM_THREADS with a number for each level, and OMP_THREAD_LIMIT.
limits() {
    printf '%s\n' '#include <omp.h>' '#include <stdio.h>' 'int main(void)' '{' '    int inner = 0, outer = 0;' \
        '#pragma omp parallel' '    if (omp_get_thread_num() == 0) {' '        outer = omp_get_num_threads();' \
        '#pragma omp parallel' '        if (omp_get_thread_num() == 0)' '            inner = omp_get_num_threads();' '    }' \
        '    return printf("%d %d %d\n", outer, inner, omp_get_max_threads()) < 0;' '}' >limits.c
    "$maxrace" cc -fopenmp -g limits.c -o limits || return 1
    (OMP_NUM_THREADS=2,3 "$maxrace" record -o trace.mrt ./limits) >out 2>err && [ "$(cat out)" = '2 3 2' ] &&
        (OMP_NUM_THREADS=5 OMP_THREAD_LIMIT=4 "$maxrace" record -o trace.mrt ./limits) >out 2>err && grep -q '^4 1 ' out || { cat out err; return 1; }
}

# What the runtime does not do is left to the library from the beginning, with a line about it.
left() {
    cat >left.c <<'END'
#include <omp.h>
#include <stdio.h>
static int own = 1;
#pragma omp threadprivate(own)
int main(void)
{
    int sum = 0, after = 0;
#ifdef CANCELS
#pragma omp parallel
#pragma omp for schedule(static, 1)
    for (int i = 0; i < 3; i++) {
        if (i == 1) {
#pragma omp cancel for
            after = 1;
        }
    }
#endif
    own = 4;
#pragma omp parallel copyin(own) reduction(+ : sum)
    {
#ifdef ALLOCATES
        int *room = omp_alloc(sizeof *room, omp_default_mem_alloc);
        *room = 1;
        sum += *room;
        omp_free(room, omp_default_mem_alloc);
#endif
        own += omp_get_thread_num();
        sum += own;
    }
    return printf("%d %d\n", sum, after) < 0;
}
END
    local flags
    for flags in -fnoopenmp-use-tls -DCANCELS -DALLOCATES; do
        "$maxrace" cc -fopenmp -g $flags left.c -o left && OMP_CANCELLATION=true ./left >expected &&
            OMP_CANCELLATION=$([ $flags = -DCANCELS ] && echo true) timeout 60 "$maxrace" record -o trace.mrt ./left >out 2>err && diff expected out &&
            grep -q 'OpenMP synchronises in ways that are not recorded' err || { echo "$flags"; cat out err; return 1; }
    done
}

# A child that is not recorded: the library does not know the number that main has of its thread.
child() {
    cat >child.c <<'END'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static int count(void)
{
    int all = 0;
#pragma omp parallel num_threads(3) reduction(+ : all)
    all++;
    return all;
}
int main(void)
{
    int all = 0, status = 0;
#pragma omp parallel num_threads(2) reduction(+ : all)
    all++;
    pid_t child = fork();
#pragma omp parallel num_threads(3) reduction(+ : all)
    all += 1 + (child == 0 ? count() - 1 : 0);
    if (child == 0)
        _exit(all);
    waitpid(child, &status, 0);
    return printf("%d %d\n", all, WEXITSTATUS(status)) < 0;
}
END
    "$maxrace" cc -fopenmp -g child.c -o child && ./child >expected && timeout 60 "$maxrace" record -o trace.mrt ./child >out 2>err && diff expected out || { cat err; return 1; }
}

# Tasks of tasks far deeper than a thread does by itself: threads wait for each other often, and none naps meanwhile.
deep() {
    cat >deep.c <<'END'
static int tree(int n)
{
    int a = n, b = 0;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = tree(n - 1);
#pragma omp task shared(b)
    b = tree(n - 2);
#pragma omp taskwait
    return a + b;
}

int main(void)
{
    int result = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    result = tree(17);
    return result != 1597;
}
END
    "$maxrace" cc -fopenmp -g -O1 deep.c -o deep && timeout 20 "$maxrace" record -o trace.mrt ./deep 2>err || { cat err; return 1; }
}

mapfile -t names < <(sed -n 's/^static bool \([a-z_]*\)(void)$/\1/p' constructs.c | grep -v '^are_numbers$')
if ! printf '#include <omp.h>\nint main(void) { return omp_get_level(); }\n' | clang -fopenmp -x c - -o probe 2>/dev/null; then
    for name in "${names[@]}" limits left child flushes takes two deep; do skip "record_kmpc_$name" 'there is no clang with libomp-dev'; done
    exit 0
fi
all=
for name in "${names[@]}"; do all+="{\"$name\", $name}, "; done
check record_kmpc_build "$maxrace" cc -fopenmp -g -O1 "-DALL=$all" constructs.c -o constructs
for name in "${names[@]}"; do
    case $name in
    race*) check "record_kmpc_$name" races "$name" ;;
    *) check "record_kmpc_$name" is_safe "$name" ;;
    esac
done
check record_kmpc_limits limits
check record_kmpc_left left
check record_kmpc_child child
check record_kmpc_flushes gives_way
check record_kmpc_takes takes_the_same
check record_kmpc_two waits_for_two
check record_kmpc_deep deep
[ $failures -eq 0 ]
