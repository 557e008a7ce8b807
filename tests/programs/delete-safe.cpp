/* No race: shared pointers, vectors that grow and nodes of lists, in two threads with a lock. */
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

static std::mutex lock;
static std::list<std::shared_ptr<std::string>> names;

static void add(int count)
{
    std::vector<int> own;
    for (int i = 0; i < count; i++) {
        own.push_back(i);
        auto name = std::make_shared<std::string>(40, 'a' + i);
        std::lock_guard<std::mutex> hold(lock);
        names.push_back(name);
        if (names.size() > 3) {
            names.pop_front();
        }
    }
}

int main()
{
    std::thread other(add, 6);
    add(6);
    other.join();
    return names.size() != 3;
}
