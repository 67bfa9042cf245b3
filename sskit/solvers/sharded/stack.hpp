// Numbers that threads put one after the other.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace sskit {

// Numbers one after the other. Threads that are not Python's own cannot throw where memory ends.
template <class T>
class Stack {
    T* items = nullptr;
    ptrdiff_t room = 0;

public:
    ptrdiff_t n = 0;

    Stack() = default;
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;
    ~Stack() { std::free(items); }

    T* data() { return items; }

    // put `count` more on top; false if there is no memory for them, and then nothing has changed
    bool push(const T* more, ptrdiff_t count) {
        if (n + count > room) {
            const ptrdiff_t wanted = 2 * (n + count);
            void* grown = std::realloc((void*)items, wanted * sizeof(T));
            if (!grown) return false;
            items = (T*)grown;
            room = wanted;
        }
        if (count) std::memcpy((void*)(items + n), more, count * sizeof(T));
        n += count;
        return true;
    }
};

}  // namespace sskit
