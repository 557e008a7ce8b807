/*
 * No race: parts of objects on stacks, variables of a member function and of an inlined one, used
 * by one thread after the other.
 */
#include <cstdio>
#include <functional>
#include <mutex>
#include <thread>

static void count(int *number)
{
    ++*number;
}

static void deposit(long &balance, std::mutex &mutex)
{
    mutex.lock();
    ++balance;
    mutex.unlock();
}

namespace bank
{
struct Account {
    long balance;
    int flags[4];
};

struct Teller {
    void run(int depth);
};

static inline __attribute__((always_inline)) int both()
{
    int tally[3] = {0, 0, 0};
    std::thread first(count, &tally[1]);
    first.join();
    std::thread second(count, &tally[1]);
    second.join();
    return tally[1];
}

__attribute__((noinline)) void Teller::run(int depth)
{
    int local = depth;
    std::thread other(count, &local);
    if (depth > 0)
        run(depth - 1);
    other.join();
    count(&local);
    std::printf("%d\n", local);
}
} // namespace bank

int main()
{
    bank::Account account{};
    bank::Teller teller;
    std::mutex mutex;
    int total = 0;
    {
        std::thread first(deposit, std::ref(account.balance), std::ref(mutex));
        std::thread second(deposit, std::ref(account.balance), std::ref(mutex));
        first.join();
        second.join();
    }
    {
        std::thread first(count, &account.flags[1]), third(count, &total);
        first.join();
        third.join();
        std::thread second(count, &account.flags[1]);
        second.join();
        count(&total);
    }
    teller.run(1);
    total += bank::both();
    std::printf("%d %ld %d\n", total, account.balance, account.flags[1]);
}
