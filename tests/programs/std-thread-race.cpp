/* Race on sum: both threads add to a captured variable. Predicted from every order. */
#include <thread>

int main()
{
    int sum = 0;
    std::thread first([&] { sum += 1; });
    std::thread second([&] { sum += 2; });
    first.join();
    second.join();
    return sum <= 3 ? 0 : 1;
}
