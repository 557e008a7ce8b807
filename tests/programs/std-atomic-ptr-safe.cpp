/* An atomic shared pointer hands an object over. */
#include <atomic>
#include <memory>
#include <thread>

int main()
{
    std::shared_ptr<int> slot;
    std::thread other([&] {
        auto made = std::make_shared<int>(1);
        *made = 2;
        std::atomic_store(&slot, made);
    });
    std::shared_ptr<int> seen;
    while (!(seen = std::atomic_load(&slot)))
        std::this_thread::yield();
    int value = *seen;
    other.join();
    return value == 2 ? 0 : 1;
}
