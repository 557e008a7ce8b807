/* Strings that share their text until one of them changes (the older layout of libstdc++). */
#define _GLIBCXX_USE_CXX11_ABI 0
#include <string>
#include <thread>

static int lengths[2];

int main()
{
    std::string text("a text that is longer than any small buffer would be");
    auto work = [](std::string copy, int which) {
        std::string other(copy);
        other += "!";
        lengths[which] = (int)(other.size() + copy.size());
    };
    std::thread first(work, text, 0), second(work, text, 1);
    text = "other";
    first.join();
    second.join();
    return lengths[0] == lengths[1] && text.size() == 5 ? 0 : 1;
}
