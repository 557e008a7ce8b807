// Race: two threads use a pool that has no lock. Predicted from every order.
#include <memory_resource>
#include <thread>

int main()
{
    std::pmr::unsynchronized_pool_resource pool;
    pool.deallocate(pool.allocate(64), 64);
    auto work = [&] { pool.deallocate(pool.allocate(16), 16); };
    std::thread first(work);
    first.join();
    std::thread second([&] { pool.deallocate(pool.allocate(64), 64); });
    pool.deallocate(pool.allocate(64), 64);
    second.join();
    return 0;
}
