/* No race: threads exchange and load atomic shared and weak pointers. What one stores is there for who loads it. */
#include <atomic>
#include <memory>
#include <thread>

static std::atomic<std::shared_ptr<int>> shared;
static std::atomic<std::weak_ptr<int>> weak;

static void replace()
{
    for (int i = 0; i < 3; i++) {
        auto next = std::make_shared<int>(i);
        weak.store(next);
        shared.exchange(next);
    }
}

int main()
{
    int sum = 0;
    auto first = std::make_shared<int>(1);
    shared.store(first);
    weak.store(first);
    std::thread thread(replace);
    for (int i = 0; i < 3; i++) {
        if (auto found = weak.load().lock())
            sum += *found;
        std::shared_ptr<int> expected = shared.load(std::memory_order_acquire);
        sum += *expected;
        shared.compare_exchange_strong(expected, std::make_shared<int>(7));
    }
    thread.join();
    return sum < 0;
}
