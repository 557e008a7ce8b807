/* No race: with the lock. */
#include <mutex>
#include <thread>
#include <vector>

static std::mutex lock;
static std::vector<int> items;

int main()
{
    std::thread first([] {
        for (int i = 0; i < 5; i++) {
            std::lock_guard<std::mutex> guard(lock);
            items.push_back(i);
        }
    });
    std::size_t seen = 0;
    std::thread second([&] {
        std::lock_guard<std::mutex> guard(lock);
        seen = items.size();
    });
    first.join();
    second.join();
    return seen <= 5 ? 0 : 1;
}
