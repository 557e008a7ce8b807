/* Values, references and exceptions through promises, packaged tasks and shared futures; the last owner of the state releases it. */
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

static int value;

int main()
{
    std::promise<std::string> text;
    std::promise<int &> reference;
    std::promise<void> failed;
    std::packaged_task<int(int)> task([](int n) { return value += n; });
    auto text_future = text.get_future();
    auto reference_future = reference.get_future();
    auto failed_future = failed.get_future().share();
    auto task_future = task.get_future();
    std::thread sender([&, task = std::move(task)]() mutable {
        value = 1;
        text.set_value("a text that is too long for its small buffer");
        task(2);
        reference.set_value(value);
        failed.set_exception(std::make_exception_ptr(std::runtime_error("as it should")));
    });
    std::thread waiter([failed_future] {
        try {
            failed_future.get();
        } catch (const std::runtime_error &error) {
            if (std::string(error.what()) != "as it should")
                value = 100;
        }
    });
    int sum = (int)text_future.get().size() + task_future.get() + reference_future.get();
    try {
        failed_future.get();
    } catch (const std::runtime_error &error) {
        sum += error.what()[0] == 'a';
    }
    value++;
    sender.join();
    waiter.join();
    return sum == 44 + 3 + 3 + 1 && value == 4 ? 0 : 1;
}
