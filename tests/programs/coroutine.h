/* The smallest coroutine: begins at once, stops where it is parked, destroys itself at its end. The twins coroutine-*. */
#include <coroutine>
#include <exception>

struct task {
    struct promise_type {
        task get_return_object()
        {
            return {};
        }
        std::suspend_never initial_suspend() noexcept
        {
            return {};
        }
        std::suspend_never final_suspend() noexcept
        {
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
            std::terminate();
        }
    };
};

struct park {
    std::coroutine_handle<> &where;
    bool await_ready()
    {
        return false;
    }
    void await_suspend(std::coroutine_handle<> self)
    {
        where = self;
    }
    void await_resume()
    {
    }
};
