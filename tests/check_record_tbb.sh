#!/usr/bin/env bash
# Programs with tasks of oneTBB, whose library is not recorded: what is safe has no race and nothing unseen, what races is found and replayed,
# and what only the library orders is told. Prints "[       OK ] name", or the reason and "[  FAILED  ] name".
. "$(dirname "$0")/support/in_scratch.sh"
unset MAXRACE_CC MAXRACE_CXX

cat >tasks.cpp <<'END'
#include <oneapi/tbb/concurrent_queue.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/scalable_allocator.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <atomic>
#include <cstring>
#include <functional>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>
using namespace oneapi::tbb;

enum { COUNT = 60 };
static int word, numbers[COUNT];

static int sum()
{
    return parallel_reduce(
        blocked_range<int>(0, COUNT), 0,
        [](const blocked_range<int> &range, int sum) {
            for (int i = range.begin(); i < range.end(); i++)
                sum += numbers[i];
            return sum;
        },
        std::plus<int>());
}

static void tree(int depth, int *leaves)
{
    int left, right;
    if (depth == 0) {
        *leaves = 1;
        return;
    }
    task_group group;
    group.run([&] { tree(depth - 1, &left); });
    tree(depth - 1, &right);
    group.wait();
    *leaves = left + right;
}

static bool loops()
{
    parallel_for(0, (int)COUNT, [](int i) { numbers[i] = i; });
    return sum() == COUNT * (COUNT - 1) / 2;
}

static bool groups()
{
    int leaves, first = 0, second = 0;
    task_group group;
    for (int round = 0; round < 3; round++) {
        group.run([&] { first++; });
        group.run([&] { second++; });
        group.wait();
    }
    tree(4, &leaves);
    return leaves == 16 && first + second == 6;
}

/* The exception that ends the loop comes after what its body has written. */
static bool throws()
{
    bool caught = false;
    try {
        parallel_for(0, (int)COUNT, [](int i) {
            numbers[i] = i;
            if (i == 40) {
                word = 7;
                throw std::runtime_error("no more");
            }
        });
    } catch (std::runtime_error &) {
        caught = word == 7;
    }
    return caught && numbers[0] + numbers[COUNT - 1] >= 0;
}

static bool arenas()
{
    task_arena arena(3);
    int value = 1;
    arena.execute([&] {
        parallel_for(0, (int)COUNT, [&](int i) { numbers[i] = value; });
        value = 2;
    });
    std::atomic<bool> done{false};
    arena.enqueue([&] {
        value++;
        done.store(true);
    });
    while (!done.load())
        ;
    return value == 3;
}

/* Blocks go back to the library and to the next one who asks, maybe another thread. */
static bool memory()
{
    concurrent_queue<int *> queue;
    parallel_for(0, (int)COUNT, [&](int i) {
        std::vector<int, scalable_allocator<int>> some(8 + i % 3, i);
        std::vector<int, cache_aligned_allocator<int>> more(8 + i % 3, i);
        numbers[i] = some[1] + more[2];
        queue.push(new int(i));
        int *got;
        if (queue.try_pop(got)) {
            *got += 1;
            delete got;
        }
    });
    return sum() == COUNT * (COUNT - 1);
}

/* A block that moves goes back, too. */
static bool moved_memory()
{
    enum { BLOCKS = 50, BYTES = 48 };
    std::vector<int *> blocks(BLOCKS);
    for (int round = 0; round < 5; round++) {
        std::thread makes([&] {
            for (int *&block : blocks)
                *(block = (int *)scalable_malloc(BYTES)) = 1;
        });
        makes.join();
        std::thread moves([&] {
            for (int *&block : blocks) {
                block[1] = 2;
                scalable_free(scalable_realloc(block, 4096));
            }
        }), takes([] {
            for (int i = 0; i < BLOCKS; i++) {
                void *block;
                if (scalable_posix_memalign(&block, 16, BYTES))
                    throw std::bad_alloc();
                ((int *)block)[1] = 3;
                scalable_free(block);
            }
        });
        moves.join();
        takes.join();
    }
    return true;
}

static bool race()
{
    task_group group;
    group.run([] { word++; });
    int seen = word;
    group.wait();
    return seen < 2;
}

static bool race_of_bodies()
{
    parallel_for(0, (int)COUNT, [](int i) { word = i; });
    return true;
}

static bool pipeline()
{
    int next = 0, total = 0;
    parallel_pipeline(3, make_filter<void, int>(filter_mode::serial_in_order, [&](flow_control &control) {
                             if (next == 20)
                                 control.stop();
                             return next++;
                         }) & make_filter<int, void>(filter_mode::serial_in_order, [&](int i) { total += i; }));
    return total == 190;
}

int main(int count, char **names)
{
    static const struct {
        const char *name;
        bool (*function)();
    } all[] = {{"loops", loops}, {"groups", groups}, {"throws", throws}, {"arenas", arenas}, {"memory", memory}, {"moved_memory", moved_memory}, {"race", race},
               {"race_of_bodies", race_of_bodies}, {"pipeline", pipeline}};
    for (auto &each : all)
        if (count == 2 && !strcmp(names[1], each.name))
            return !each.function();
    return 2;
}
END

# record WHAT SEED: trace.mrt.
record() {
    timeout 60 "$maxrace" record --seed "$2" -o trace.mrt ./tasks "$1" >out 2>err </dev/null || { echo "seed $2: status $?"; cat out err; return 1; }
}

is_safe() {
    local seed
    for seed in 1 2 3; do
        record "$1" $seed && ! grep 'not recorded' err && "$maxrace" predict trace.mrt >report || { cat report; return 1; }
    done
}

# Which thread gets a task is decided in the library: a loaded machine may give all tasks to one.
races() {
    local seed
    for seed in 1 2 3 4 5 6 7 8 9 10; do
        record "$1" $seed && ! grep 'not recorded' err || return 1
        if ! "$maxrace" predict trace.mrt >report; then
            grep -q 'race on word ' report && "$maxrace" replay trace.mrt >report 2>&1
            grep -q '^1 of 1 confirmed' report && return
        fi
    done
    cat report
    return 1
}

is_told() {
    record "$1" 1 && grep -q '^maxrace: TBB synchronises in ways that are not recorded' err && "$maxrace" convert trace.mrt - | grep -q ' unseen tbb$'
}

names=(loops groups throws arenas memory moved_memory race race_of_bodies pipeline)
if [ ! -e /usr/include/oneapi/tbb/task_group.h ]; then
    for name in "${names[@]}"; do skip "record_tbb_$name" 'there is no libtbb-dev'; done
    exit 0
fi
check record_tbb_build "$maxrace" c++ -std=c++17 -g -O1 tasks.cpp -o tasks -ltbb -ltbbmalloc
for name in "${names[@]}"; do
    case $name in
    race*) check "record_tbb_$name" races "$name" ;;
    pipeline) check "record_tbb_$name" is_told "$name" ;;
    *) check "record_tbb_$name" is_safe "$name" ;;
    esac
done
[ $failures -eq 0 ]
