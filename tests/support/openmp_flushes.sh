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
