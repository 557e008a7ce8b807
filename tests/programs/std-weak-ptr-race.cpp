/* Race on a pointer that is shared itself: copied while another thread resets it. Predicted from every order. */
#include <memory>
#include <thread>

int main()
{
    static std::shared_ptr<int> shared = std::make_shared<int>(1);
    std::weak_ptr<int> weak(shared);
    std::thread other([] { shared = nullptr; });
    bool empty = shared == nullptr;
    other.join();
    return empty && !weak.expired();
}
