/* Race on a string: read while another thread changes it. Predicted from every order. */
#include <string>
#include <thread>

int main()
{
    static std::string text("text");
    std::thread other([&] { text[0] = 'n'; });
    bool changed = text[0] == 'n';
    other.join();
    return changed && text[0] != 'n';
}
