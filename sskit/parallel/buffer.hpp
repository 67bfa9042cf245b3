// Memory that grows in any thread.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace sskit {

// Numbers one after the other. Threads that are not Python's own cannot throw where memory ends:
// what grows says whether it could, and if not, nothing has changed.
template <class T>
class Buffer {
    T* items = nullptr;
    ptrdiff_t room = 0;

public:
    ptrdiff_t n = 0;

    Buffer() = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    Buffer(Buffer&& other) noexcept : items(other.items), room(other.room), n(other.n) {
        other.items = nullptr;
        other.room = other.n = 0;
    }
    ~Buffer() { std::free((void*)items); }

    T* data() { return items; }
    const T* data() const { return items; }

    // let there be room for so many
    bool reserve(ptrdiff_t wanted) {
        if (wanted <= room) return true;
        if (wanted < 2 * room) wanted = 2 * room;
        void* grown = std::realloc((void*)items, wanted * sizeof(T));
        if (!grown) return false;
        items = (T*)grown;
        room = wanted;
        return true;
    }

    bool push(const T& item) {
        if (!reserve(n + 1)) return false;
        items[n++] = item;
        return true;
    }

    bool push(const T* more, ptrdiff_t count) {
        if (!reserve(n + count)) return false;
        if (count) std::memcpy((void*)(items + n), more, count * sizeof(T));
        n += count;
        return true;
    }

    void clear() { n = 0; }
};

}  // namespace sskit
