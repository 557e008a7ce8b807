/* A condition variable for any lock, with a shared mutex, a stop token and a limit. */
#include <chrono>
#include <condition_variable>
#include <shared_mutex>
#include <thread>

static int value;

int main()
{
    std::shared_mutex mutex;
    std::condition_variable_any changed;
    bool ready = false;
    std::jthread other([&](std::stop_token stop) {
        std::shared_lock lock(mutex);
        if (changed.wait(lock, stop, [&] { return ready; }) && value != 1)
            value++;
        changed.wait(lock, stop, [] { return false; });
    });
    {
        std::unique_lock lock(mutex);
        value = 1;
        ready = true;
    }
    changed.notify_all();
    {
        std::unique_lock lock(mutex);
        changed.wait_for(lock, std::chrono::milliseconds(1), [] { return false; });
        value = 1;
    }
    other.request_stop();
    other.join();
    return value == 1 ? 0 : 1;
}
