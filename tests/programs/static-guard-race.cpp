/* Race on the shared object behind a static pointer. Predicted from every order. */
#include <thread>

struct registry {
    int entries[4];
    registry() : entries{1, 2, 3, 4}
    {
    }
};

static registry &get()
{
    static registry *made;
    if (made == nullptr) {
        made = new registry;
    }
    return *made;
}

int main()
{
    int sums[2] = {0, 0};
    auto add = [&](int which) {
        for (int entry : get().entries) {
            sums[which] += entry;
        }
    };
    std::thread first(add, 0), second(add, 1);
    first.join();
    second.join();
    return sums[0] == sums[1] ? 0 : 1;
}
