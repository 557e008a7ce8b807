/*
 * Variables on stacks that threads race on: parts of objects, of a member function, of an inlined
 * one, and referred to. Predicted from every order.
 *
 * Names: main.account.balance main.account.flags[1] main.mutex bank::Teller::run.local
 * bank::Teller::run.local#2 bank::both.tally[1] main.total
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
    mutex.unlock();
    ++balance;
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
    std::thread first(count, &tally[1]), second(count, &tally[1]);
    first.join();
    second.join();
    return tally[1];
}

__attribute__((noinline)) void Teller::run(int depth)
{
    int local = depth;
    std::thread other(count, &local);
    if (depth > 0)
        run(depth - 1);
    count(&local);
    other.join();
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
        std::thread first(count, &account.flags[1]), second(count, &account.flags[1]);
        std::thread third(count, &total);
        count(&total);
        first.join();
        second.join();
        third.join();
    }
    teller.run(1);
    total += bank::both();
    std::printf("%d %ld %d\n", total, account.balance, account.flags[1]);
}
