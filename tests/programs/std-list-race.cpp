/* Race on a list: one thread goes through it while another one puts an element in front, which
 * links nodes that the first one follows. Predicted from every order. */
#include <list>
#include <thread>

int main()
{
    std::list<int> numbers{1, 2, 3};
    int sum = 0;
    std::thread other([&] {
        for (int number : numbers)
            sum += number;
    });
    numbers.push_front(4);
    other.join();
    return sum < 6 ? 1 : 0;
}
