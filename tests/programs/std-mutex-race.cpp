/* Race on the vector: its size is read without the lock. Predicted from every order. */
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
    std::thread second([&] { seen = items.size(); });
    first.join();
    second.join();
    (void)seen; /* anything: the size is computed from two pointers, one may be new */
    return 0;
}
