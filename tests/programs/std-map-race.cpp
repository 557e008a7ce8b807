/* Race on a map: one thread finds an element while another one puts one in, which links nodes that
 * the first one follows. Predicted from every order. */
#include <map>
#include <thread>

int main()
{
    std::map<int, int> numbers;
    for (int i = 0; i < 5; i++)
        numbers[i] = i;
    bool found = false;
    std::thread other([&] { found = numbers.find(7) != numbers.end(); });
    numbers.emplace(6, 6);
    other.join();
    return found ? 1 : 0;
}
