#!/usr/bin/env bash
# Programs with OpenMP by gcc (libgomp): what is safe has no race and nothing unseen, what races is found from seeds 1 to 3 and replayed, and
# the same seed gives the same trace. Prints "[       OK ] name", or the reason and "[  FAILED  ] name".
. "$(dirname "$0")/support/openmp_programs.sh"
. "$(dirname "$0")/support/in_scratch.sh"
unset MAXRACE_CC MAXRACE_CXX OMP_CANCELLATION OMP_SCHEDULE OMP_NUM_THREADS
export OMP_STACKSIZE=16m

cat >openmp.c <<'END'
#include <omp.h>
#include <string.h>

enum { COUNT = 24, THREADS = 3 };
static int word, other, numbers[COUNT];
static omp_lock_t lock;
static omp_nest_lock_t nest;

static int sum(void)
{
    int all = 0;
#pragma omp parallel for num_threads(THREADS) reduction(+ : all)
    for (int i = 0; i < COUNT; i++)
        all += numbers[i];
    return all;
}

static int is_filled(void)
{
    return sum() == COUNT * (COUNT - 1) / 2;
}

/* ---- regions, loops, barriers ---- */

static int regions(void)
{
    int local = 1;
#pragma omp parallel num_threads(THREADS)
    numbers[omp_get_thread_num()] = local + omp_get_num_threads();
    word = numbers[0] + numbers[1] + numbers[2];
#pragma omp parallel num_threads(THREADS)
    numbers[(omp_get_thread_num() + 1) % THREADS] += word;
    return word == 12 && numbers[0] == 16 && !omp_in_parallel() && omp_get_num_threads() == 1;
}

/* More than a thread has without OMP_STACKSIZE. */
static __attribute__((noinline)) void use_room(int number)
{
    volatile char room[12 << 20];
    room[0] = (char)number;
    numbers[number] = room[0];
}

static int stacks(void)
{
#pragma omp parallel num_threads(THREADS)
    if (omp_get_thread_num() > 0)
        use_room(omp_get_thread_num());
    return numbers[2] == 2;
}

static int loops(void)
{
    int good = 1;
#define LOOP(clause)                                                                               \
    _Pragma("omp parallel num_threads(THREADS)")                                                   \
    {                                                                                              \
        clause for (int i = 0; i < COUNT; i++) numbers[COUNT - 1 - i] = COUNT - 1 - i;             \
        clause for (int i = COUNT - 1; i >= 0; i -= 2) numbers[i] += 0;                            \
    }                                                                                              \
    good &= is_filled();                                                                           \
    memset(numbers, 0, sizeof numbers);
    LOOP(_Pragma("omp for schedule(static)"))
    LOOP(_Pragma("omp for schedule(static, 2)"))
    LOOP(_Pragma("omp for schedule(dynamic)"))
    LOOP(_Pragma("omp for schedule(dynamic, 5)"))
    LOOP(_Pragma("omp for schedule(guided, 2)"))
    LOOP(_Pragma("omp for schedule(runtime)"))
    LOOP(_Pragma("omp for schedule(monotonic : dynamic, 3)"))
#undef LOOP
#pragma omp parallel for num_threads(THREADS) schedule(dynamic, 2)
    for (unsigned long long i = 0; i < COUNT; i++)
        numbers[i] = (int)i;
    good &= is_filled();
#pragma omp parallel for num_threads(THREADS) schedule(guided)
    for (long i = COUNT - 1; i >= 0; i--)
        numbers[i] = (int)i;
    return good & is_filled();
}

static int barrier(void)
{
    int cells[THREADS] = {0}, sums[THREADS];
#pragma omp parallel num_threads(THREADS)
    {
        int i = omp_get_thread_num();
        for (int round = 0; round < 3; round++) {
            cells[i]++;
#pragma omp barrier
            sums[i] = cells[(i + 1) % THREADS];
#pragma omp barrier
        }
    }
    return sums[0] + sums[1] + sums[2] == 9;
}

static int sections(void)
{
    int a = 0, b = 0, c = 0;
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp sections
        {
#pragma omp section
            a = 1;
#pragma omp section
            b = 2;
#pragma omp section
            c = 3;
        }
#pragma omp single
        word = a + b + c;
    }
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        a += 10;
#pragma omp section
        b += 10;
    }
    return word == 6 && a + b == 23;
}

static int singles(void)
{
    int mine, all = 0;
#pragma omp parallel num_threads(THREADS) private(mine) reduction(+ : all)
    {
        for (int i = 0; i < 4; i++) {
#pragma omp single copyprivate(mine)
            mine = ++word;
            all += mine;
        }
#pragma omp single nowait
        other++;
#pragma omp master
        numbers[0] = 1;
    }
    return all == THREADS * 10 && word == 4 && other == 1;
}

static int order(void)
{
    int last = -1, in_order = 1;
#pragma omp parallel for num_threads(THREADS) ordered schedule(dynamic, 2)
    for (int i = 0; i < COUNT; i++) {
        numbers[i] = i;
#pragma omp ordered
        {
            in_order &= last == i - 1;
            last = i;
        }
    }
#pragma omp parallel for num_threads(THREADS) ordered
    for (int i = 0; i < COUNT; i++) {
        if (i % 3 == 0) {
#pragma omp ordered
            last += i;
        }
    }
    return in_order && is_filled() && last == COUNT - 1 + 84;
}

static int doacross(void)
{
    int table[6][6] = {{0}};
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for ordered(1) schedule(static, 1)
        for (int i = 1; i < COUNT; i++) {
#pragma omp ordered depend(sink : i - 1)
            numbers[i] = numbers[i - 1] + 1;
#pragma omp ordered depend(source)
        }
#pragma omp for ordered(2) schedule(dynamic)
        for (int i = 1; i < 6; i++)
            for (int j = 1; j < 6; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
                table[i][j] = table[i - 1][j] + table[i][j - 1] + 1;
#pragma omp ordered depend(source)
            }
    }
    return is_filled() && table[1][1] == 1 && table[5][5] == 251;
}

static int nested(void)
{
    int cells[2][2] = {{0}};
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
        int i = omp_get_thread_num();
#pragma omp parallel num_threads(2)
        {
            cells[i][omp_get_thread_num()] = omp_get_level() + omp_get_ancestor_thread_num(1);
#pragma omp barrier
#pragma omp atomic
            word += cells[i][1 - omp_get_thread_num()];
        }
        cells[i][0]++;
    }
    return word == 10 && cells[1][0] == 4 && omp_get_level() == 0;
}

/* ---- locks ---- */

static int locks(void)
{
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(THREADS)
    for (int i = 0; i < 3; i++) {
#pragma omp critical
        numbers[0]++;
#pragma omp critical(named)
        numbers[1]++;
        omp_set_lock(&lock);
        numbers[2]++;
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        if (omp_test_nest_lock(&nest) == 2) {
            numbers[3]++;
            omp_unset_nest_lock(&nest);
        }
        omp_unset_nest_lock(&nest);
        while (!omp_test_lock(&lock)) {
        }
        numbers[2]++;
        omp_unset_lock(&lock);
#pragma omp atomic
        numbers[4]++;
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    return numbers[0] == 9 && numbers[1] == 9 && numbers[2] == 18 && numbers[3] == 9 && numbers[4] == 9;
}

static int reductions(void)
{
    double product = 1;
    int most = 0, all = 0;
#pragma omp parallel for num_threads(THREADS) reduction(* : product) reduction(max : most) reduction(+ : all)
    for (int i = 1; i < 6; i++) {
        product *= i;
        most = i > most ? i : most;
        all += i;
    }
    return product == 120 && most == 5 && all == 15;
}

/* gcc puts no calls before these updates. */
static int doubles(void)
{
    static double real, all;
#pragma omp parallel num_threads(THREADS) reduction(+ : all)
    {
#pragma omp atomic
        real += 1;
        all += 1;
#pragma omp barrier
        all += real;
    }
    return real == 3 && all == 12;
}

/* ---- tasks ---- */

static void fill(int from, int count)
{
    if (count == 1) {
        numbers[from] = from;
        return;
    }
#pragma omp task
    fill(from, count / 2);
#pragma omp task
    fill(from + count / 2, count - count / 2);
#pragma omp taskwait
    word += 0 * numbers[from];
}

static int tasks(void)
{
    int local = 0;
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp single
        {
            for (int i = 0; i < COUNT; i++) {
#pragma omp task firstprivate(i)
                numbers[i] = i;
            }
#pragma omp taskwait
            word = numbers[0] + numbers[COUNT - 1];
#pragma omp task shared(local)
            local = 1;
        }
        if (local == 1 && omp_get_thread_num() == 0)
            other = word;
    }
    return is_filled() && other == COUNT - 1;
}

static int fib(int n)
{
    int a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b) if (n > 3)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static int recursion(void)
{
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    word = fib(7);
    return word == 13;
}

static int groups(void)
{
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    {
#pragma omp taskgroup
        {
#pragma omp task
            {
#pragma omp task
                numbers[0] = 1;
                numbers[1] = 1;
            }
        }
        word = numbers[0] + numbers[1];
#pragma omp task final(1)
        {
#pragma omp task
            numbers[2] = omp_in_final();
            word += numbers[2];
        }
    }
    return word == 3;
}

static int dependences(void)
{
    int a = 0, b = 0, c = 0;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    {
#pragma omp task depend(out : a)
        a = 1;
#pragma omp task depend(in : a) depend(out : b)
        b = a + 1;
#pragma omp task depend(in : a) depend(out : c)
        c = a + 2;
#pragma omp task depend(inout : a, b) depend(in : c)
        a += b + c;
#pragma omp task depend(mutexinoutset : b)
        b++;
#pragma omp task depend(mutexinoutset : b)
        b++;
#pragma omp taskwait depend(in : a)
        word = a;
#pragma omp task if (0) depend(in : b)
        word += b;
    }
    return word == 10;
}

static int task_loops(void)
{
    int all = 0;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    {
#pragma omp taskloop num_tasks(5)
        for (int i = 0; i < COUNT; i++)
            numbers[i] = i;
        for (int i = 0; i < COUNT; i++)
            word += numbers[i];
#pragma omp taskloop grainsize(7) reduction(+ : all)
        for (int i = COUNT - 1; i >= 0; i--)
            all += numbers[i];
#pragma omp taskgroup task_reduction(+ : all)
        {
            for (int i = 0; i < 4; i++) {
#pragma omp task in_reduction(+ : all)
                all += 100;
            }
        }
    }
    return is_filled() && word == COUNT * (COUNT - 1) / 2 && all == word + 400;
}

static int detached(void)
{
    omp_event_handle_t event, at_once;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    {
#pragma omp task detach(event)
        numbers[0] = 1;
#pragma omp task detach(at_once) if (0)
        omp_fulfill_event(at_once);
#pragma omp task
        {
            numbers[1] = 2;
            omp_fulfill_event(event);
        }
#pragma omp taskwait
        word = numbers[0] + numbers[1];
    }
    return word == 3;
}

/* ---- target regions and teams, on the host ---- */

static int targets(void)
{
    int a = 0, b = 0, sizes = 0;
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp single
        {
#pragma omp task depend(out : a) shared(a)
            a = 1;
#pragma omp target depend(inout : a) map(tofrom : a) nowait
            a = 2 * a;
#pragma omp task depend(in : a) shared(a, b)
            b = a + 1;
#pragma omp taskwait
        }
#pragma omp target map(tofrom : sizes)
        {
#pragma omp atomic
            sizes += omp_get_num_threads();
#pragma omp for
            for (int i = 0; i < 2; i++) {
#pragma omp atomic
                sizes += 10;
            }
        }
    }
    return a == 2 && b == 3 && sizes == THREADS * 21;
}

static int limits(void)
{
    int most = 0;
#pragma omp target teams num_teams(1) thread_limit(2) map(tofrom : most)
#pragma omp parallel num_threads(5)
    {
#pragma omp single
        most = omp_get_num_threads() + omp_get_thread_limit();
    }
    return most == 4;
}

/* ---- races ---- */

static int race_in_region(void)
{
#pragma omp parallel num_threads(THREADS)
    word++;
    return 1;
}

static int race_of_iterations(void)
{
#pragma omp parallel for num_threads(THREADS)
    for (int i = 0; i < COUNT; i++)
        numbers[i] = numbers[COUNT - 1 - i] + 1;
    return 1;
}

static int race_of_neighbours(void)
{
#pragma omp parallel for num_threads(THREADS)
    for (int i = 0; i < COUNT - 1; i++)
        numbers[i] = numbers[i + 1] + 1;
    return 1;
}

static int race_of_dynamic(void)
{
#pragma omp parallel for num_threads(THREADS) schedule(dynamic)
    for (int i = 0; i < COUNT; i++)
        word = i;
    return 1;
}

static int race_after_nowait(void)
{
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for nowait
        for (int i = 0; i < THREADS; i++)
            numbers[i] = i;
        word = 0 * numbers[(omp_get_thread_num() + 1) % THREADS];
    }
    return 1;
}

static int race_of_single(void)
{
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp single nowait
        word = 1;
        if (word == 7)
            other = 1;
    }
    return 1;
}

static int race_of_sections(void)
{
#pragma omp parallel sections num_threads(THREADS)
    {
#pragma omp section
        word = 1;
#pragma omp section
        word = 2;
    }
    return 1;
}

static int race_of_locks(void)
{
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0) {
#pragma omp critical(first)
            word++;
        } else {
#pragma omp critical(second)
            word++;
        }
    }
    return 1;
}

static int race_beside_order(void)
{
#pragma omp parallel for num_threads(THREADS) ordered schedule(static, 1)
    for (int i = 0; i < THREADS; i++) {
#pragma omp ordered
        other = i;
        word = i;
    }
    return 1;
}

static int race_of_tasks(void)
{
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    {
        for (int i = 0; i < 4; i++) {
#pragma omp task
            word++;
        }
    }
    return 1;
}

static int race_with_task(void)
{
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    {
#pragma omp task
        {
#pragma omp task
            word = 1;
        }
#pragma omp taskwait
        word = 2;
    }
    return 1;
}

static int race_of_readers(void)
{
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    {
#pragma omp task depend(out : other)
        other = 1;
        for (int i = 0; i < 3; i++) {
#pragma omp task depend(in : other)
            word += other;
        }
    }
    return 1;
}

static int race_past_dependence(void)
{
    int a = 0, b = 2;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    {
#pragma omp task depend(inout : a) shared(a)
        a++;
#pragma omp task depend(in : a) depend(inout : b) shared(a, b)
        b -= a;
#pragma omp taskwait depend(in : a)
        word = b;
#pragma omp taskwait
    }
    return 1;
}

static int race_of_task_loop(void)
{
#pragma omp parallel num_threads(THREADS)
#pragma omp single
#pragma omp taskloop num_tasks(6)
    for (int i = 0; i < COUNT; i++)
        word = i;
    return 1;
}

static int race_of_regions(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 1)
            word = omp_get_ancestor_thread_num(1);
#pragma omp barrier
    }
    return 1;
}

int main(int count, char **names)
{
#define ROW(name) {#name, name}
    static const struct {
        const char *name;
        int (*function)(void);
    } all[] = {NAMES};
    for (int i = 0; i < (int)(sizeof all / sizeof *all); i++)
        if (count == 2 && !strcmp(names[1], all[i].name))
            return !all[i].function();
    return 2;
}
END
mapfile -t names < <(sed -n 's/^static int \([a-z_]*\)(void)$/\1/p' openmp.c | grep -vx 'sum\|is_filled')
rows=$(printf 'ROW(%s), ' "${names[@]}")

# record WHAT SEED: trace.mrt.
record() {
    timeout 60 "$maxrace" record --seed "$2" -o trace.mrt ./openmp "$1" >out 2>err </dev/null || { echo "seed $2: status $?"; cat out err; return 1; }
    ! grep 'not recorded\|blocked in a call\|no recorded write' err
}

is_safe() {
    local seed
    for seed in 1 2 3; do
        record "$1" $seed && "$maxrace" predict trace.mrt >report || { cat report; return 1; }
    done
}

# races NAME SEED…: the first of the seeds that has a race.
races() {
    local name=$1 seed
    for seed in "${@:2}"; do
        record "$name" "$seed" || return 1
        if ! "$maxrace" predict trace.mrt >report; then
            "$maxrace" replay trace.mrt >report 2>&1
            grep -q '^\([0-9]*\) of \1 confirmed' report || { cat report; return 1; }
            return
        fi
    done
    echo "no race from the seeds ${*:2}"
    return 1
}

# A program that may cancel is left to the library.
is_told() {
    "$maxrace" record -q -o trace.mrt ./openmp regions 2>err || return 1
    grep -q '^maxrace: OpenMP synchronises in ways that are not recorded' err && "$maxrace" convert trace.mrt - | grep -q ' unseen openmp$'
}

# The functions of a program that are not done: all of it is left to the library, and its results are right.
cat >left.c <<'END'
#include <omp.h>
#include <stdio.h>

void GOMP_parallel_start(void (*function)(void *), void *data, unsigned threads);
void GOMP_parallel_end(void);
int omp_get_num_threads_(void);

static void old(void *sum)
{
#pragma omp atomic
    *(int *)sum += omp_get_num_threads();
}

int main(void)
{
    int sum = 0, all = 0;
#if defined OLD
    GOMP_parallel_start(old, &sum, 3);
    old(&sum);
    GOMP_parallel_end();
    all = sum - 9;
#elif defined FORTRAN
#pragma omp parallel num_threads(3) reduction(+ : sum)
    sum += omp_get_num_threads_();
    all = sum - 9;
#elif defined LOOP
#pragma omp parallel num_threads(3)
#pragma omp for reduction(task, + : sum)
    for (int i = 0; i < 6; i++) {
#pragma omp task in_reduction(+ : sum)
        sum += i;
    }
    all = sum - 15;
#else
#pragma omp parallel num_threads(3) reduction(task, + : sum)
    {
#pragma omp task in_reduction(+ : sum)
        sum += omp_get_num_threads();
    }
    all = sum - 9;
#endif
    (void)old;
    printf("%d\n", all);
    return all != 0;
}
END
is_left() {
    "$maxrace" cc -g -O1 -fopenmp "$1" left.c -o left && "$maxrace" record -q -o trace.mrt ./left >out 2>err || { cat out err; return 1; }
    grep -q '^maxrace: OpenMP synchronises in ways that are not recorded' err
}

# A library with OpenMP that is loaded by a program without it.
cat >library.c <<'END'
int sum(void);
int sum(void)
{
    int all = 0;
#pragma omp parallel for num_threads(3) reduction(+ : all)
    for (int i = 0; i < 10; i++)
        all += i;
    return all;
}
END
cat >loads.c <<'END'
#include <dlfcn.h>

int main(void)
{
    void *library = dlopen("./library.so", RTLD_NOW | RTLD_LOCAL);
    int (*sum)(void) = library ? (int (*)(void))dlsym(library, "sum") : 0;
    return sum ? sum() != 45 : 2;
}
END
is_loaded() {
    "$maxrace" cc -g -O1 -fopenmp -shared -fPIC library.c -o library.so && "$maxrace" cc -g -O1 loads.c -o loads -ldl && ./loads || { echo "status $?"; return 1; }
    "$maxrace" record -q -o trace.mrt ./loads 2>err && "$maxrace" predict trace.mrt >report && ! grep 'not recorded' err
}

# Who waits for whom in a team has no choices that can be enumerated, so nothing is claimed.
is_not_enumerated() {
    timeout 60 "$maxrace" hunt --exhaustive --runs 3 -- ./openmp race_in_region >report </dev/null
    grep -q 'perhaps not all of this input: the mode cannot enumerate threads of OpenMP. So far: no race, no failure' report || { cat report; return 1; }
}

is_the_same() {
    timeout 60 "$maxrace" record --seed 2 --record-inputs no -o first.mrt ./openmp "$1" >/dev/null && timeout 60 "$maxrace" record --seed 2 --record-inputs no -o second.mrt ./openmp "$1" >/dev/null && cmp first.mrt second.mrt
}

if ! echo 'int main(void) { return 0; }' | gcc -fopenmp -x c - -o empty 2>/dev/null; then
    for name in "${names[@]}"; do skip "record_gomp_$name" 'gcc has no -fopenmp'; done
    exit 0
fi
check record_gomp_build "$maxrace" cc -g -O1 -fopenmp "-DNAMES=$rows" openmp.c -o openmp
for name in "${names[@]}"; do
    case $name in
    race*) check "record_gomp_$name" races "$name" 1 2 3 ;;
    *) check "record_gomp_$name" is_safe "$name" ;;
    esac
done
# Another thread may be the first that asks for a function: the replay is the same.
for seed in 3 4 5 6; do check "record_gomp_race_of_neighbours_$seed" races race_of_neighbours $seed; done
OMP_CANCELLATION=true check record_gomp_told is_told
for way in OLD FORTRAN LOOP PARALLEL; do check "record_gomp_left_${way,,}" is_left -D$way; done
check record_gomp_loaded is_loaded
check record_gomp_flushes gives_way
check record_gomp_takes takes_the_same
check record_gomp_two waits_for_two
check record_gomp_enumerated is_not_enumerated
for name in loops order recursion dependences; do check "record_gomp_${name}_again" is_the_same "$name"; done
[ $failures -eq 0 ]
