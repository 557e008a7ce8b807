/* Race on an object of C++: deleted by main while the other thread may use it. Predicted from every
 * order. */
#include <cstdint>
#include <memory>
#include <new>
#include <thread>

struct alignas(64) node {
    int value = 0;
    int other = 0;
};

int main()
{
    node *shared = new node;
    int *table = new int[8];
    int *plain = new (std::nothrow) int(3);
    std::thread user([=] {
        shared->value = 1;
        table[2] = 2;
        *plain = 4;
    });
    delete shared;
    user.join();
    delete[] table;
    delete plain;
    return 0;
}
