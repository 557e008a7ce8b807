/* No race: each has its own, added up after the joins. */
#include <thread>

int main()
{
    int sum = 0;
    int other = 0;
    std::thread first([&] { sum += 1; });
    std::thread second([&] { other += 2; });
    first.join();
    second.join();
    sum += other;
    return sum <= 3 ? 0 : 1;
}
