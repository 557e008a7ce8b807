/* Race on an object: written after it was handed over, before the other thread has let go of it. */
#include <atomic>
#include <memory>
#include <thread>

int main()
{
    std::shared_ptr<int> slot;
    std::thread other([&] {
        auto made = std::make_shared<int>(1);
        std::atomic_store(&slot, made);
        *made = 2;
    });
    std::shared_ptr<int> seen;
    while (!(seen = std::atomic_load(&slot)))
        std::this_thread::yield();
    int value = *seen;
    other.join();
    return value > 2;
}
