/* Race on value: written after the condition was told. Predicted from every order. */
#include <condition_variable>
#include <mutex>
#include <thread>

static int value;

int main()
{
    std::mutex mutex;
    std::condition_variable_any changed;
    bool ready = false;
    std::thread other([&] {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return ready; });
        value++;
    });
    {
        std::unique_lock lock(mutex);
        ready = true;
    }
    changed.notify_all();
    value = 1;
    other.join();
    return 0;
}
