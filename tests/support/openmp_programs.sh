# Sourced by the scripts that test recordings of OpenMP, of gcc and of clang.

# Who waits in a loop of flushes gives way: of 20 turns of three threads few events are of waits. In $scratch; $maxrace is the program that is tested.
gives_way() {
    local seed events
    cat >flushes.c <<'END'
#include <omp.h>

int main(void)
{
    static int flag[3], data[3];
#pragma omp parallel num_threads(3)
    for (int k = 0, me = omp_get_thread_num(); k < 20; k++) {
        while (me > 0 && flag[me - 1] == 0) {
#pragma omp flush
        }
        while (flag[me] == 1) {
#pragma omp flush
        }
        data[me]++;
#pragma omp flush
        if (me > 0)
            flag[me - 1] = 0;
        if (me < 2)
            flag[me] = 1;
#pragma omp flush
    }
    return data[0] + data[1] + data[2] != 60;
}
END
    "$maxrace" cc -g -O1 -fopenmp flushes.c -o flushes || return 1
    for seed in 1 2 3; do
        timeout 60 "$maxrace" record --seed $seed -o trace.mrt ./flushes 2>err || { cat err; return 1; }
        events=$(sed -n 's/.*: \([0-9]*\) events of .*/\1/p' err)
        [ "$events" -lt 5000 ] || { echo "seed $seed: $events events"; return 1; }
    done
}

# confirms NAME: the replays of NAME.c, from seeds 1 to 3, meet all races, and there is one.
confirms() {
    local seed races
    "$maxrace" cc -g -O1 -fopenmp "$1.c" -o "$1" || return 1
    for seed in 1 2 3; do
        timeout 60 "$maxrace" record --seed $seed -o trace.mrt "./$1" 2>err || { cat err; return 1; }
        "$maxrace" predict trace.mrt >report && { echo "seed $seed: no race"; return 1; }
        timeout 60 "$maxrace" replay trace.mrt >report 2>&1
        races=$(sed -n 's/^[0-9]* of \([0-9]*\) confirmed.*/\1/p' report)
        grep -q "^$races of $races confirmed" report || { echo "seed $seed:"; cat report; return 1; }
    done
}

# A race between tasks of tasks, some of which depend on others: in the replay each thread takes the tasks that it took in the recording.
takes_the_same() {
    cat >tasks.c <<'END'
static int word;

static int tree(int n)
{
    int a = n, b = 0;
    if (n < 2)
        return n;
#pragma omp task shared(a) depend(out : a)
    a = tree(n - 1);
#pragma omp task shared(b) depend(out : b)
    b = tree(n - 2);
#pragma omp task depend(in : b)
    word += n;
#pragma omp taskwait
    return a + b;
}

int main(void)
{
    int result = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
    result = tree(6);
    return result != 8;
}
END
    confirms tasks
}

# A thread that waits for two tasks comes after both at once. The witness may let another thread run between the two.
waits_for_two() {
    cat >two.c <<'END'
static int word, a, b, c;

int main(void)
{
#pragma omp parallel num_threads(3)
#pragma omp single
    for (int i = 0; i < 5; i++) {
#pragma omp task depend(out : a)
        a++;
#pragma omp task depend(out : b)
        {
            b++;
#pragma omp task
            word++;
#pragma omp taskwait
        }
#pragma omp task depend(in : a)
        {
            c = a;
            word++;
        }
#pragma omp taskwait depend(in : a, b)
#pragma omp task if (0) depend(in : b)
        c += b;
    }
    return 0;
}
END
    confirms two
}
