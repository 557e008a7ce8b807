// No race: pools give out parts of their memory again, which another thread has used and given back: one with a lock of its own, one
// under a lock of the program. What does not change in a pool is read without the lock.
#include <memory_resource>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

int main()
{
    std::pmr::synchronized_pool_resource pool;
    std::pmr::unsynchronized_pool_resource locked;
    std::mutex mutex;
    std::pmr::vector<std::pmr::string> all(&pool);
    auto work = [&](char letter) {
        for (int i = 0; i < 5; i++) {
            std::pmr::string text(40, letter, &pool);
            std::unique_lock lock(mutex);
            all.push_back(std::move(text));
            int *part = static_cast<int *>(locked.allocate(16));
            lock.unlock();
            part[3] = locked.upstream_resource() == pool.upstream_resource() ? i : 0;
            lock.lock();
            locked.deallocate(part, 16);
        }
    };
    std::thread first(work, 'a'), second(work, 'b');
    first.join();
    second.join();
    return all.size() != 10;
}
