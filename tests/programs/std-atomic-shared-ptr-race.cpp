/* A race: two threads change what an atomic shared pointer points to. */
#include <atomic>
#include <memory>
#include <thread>

static std::atomic<std::shared_ptr<int>> shared;

static void add()
{
    for (int i = 0; i < 3; i++)
        ++*shared.load();
}

int main()
{
    shared.store(std::make_shared<int>(1));
    std::thread thread(add);
    add();
    thread.join();
    return 0;
}
