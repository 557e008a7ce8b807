/* No race: a thread that nobody joins goes on when main ends, before static objects are destroyed and not long after. One object is there
 * before the thread, the other one is made by it. */
#include <atomic>
#include <cstdlib>
#include <thread>

enum { FEW = 40 };

static std::atomic<int> destroyed, rounds;

struct table {
    std::atomic<int> used{0};
    ~table() { destroyed++; }
};

static table early;

static table &late()
{
    static table made;
    return made;
}

static void work()
{
    for (int after = 0;; rounds++) {
        early.used++;
        late().used++;
        if (destroyed.load() > 0 && after++ > FEW)
            abort();
    }
}

int main()
{
    std::thread(work).detach();
    while (rounds.load() == 0)
        std::this_thread::yield();
    return 0;
}
