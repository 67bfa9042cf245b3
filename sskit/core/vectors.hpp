// What std::vector does where Cython's own declaration does not say that memory may end, and
// memory that grows where nothing may be thrown.
#pragma once
#include <Python.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <vector>

namespace sskit {

template <class T>
inline void refill(std::vector<T>& v, ptrdiff_t n, const T& x) {
    v.assign(n, x);
}

template <class T>
inline void append(std::vector<T>& v, const T& x) {
    v.push_back(x);
}

// Python's MemoryError, for methods that run without its lock
inline int no_memory() {
    const PyGILState_STATE state = PyGILState_Ensure();
    PyErr_NoMemory();
    PyGILState_Release(state);
    return -1;
}

// Plain numbers one after the other. What may grow returns -1, with MemoryError set, where memory
// ends, and then nothing has changed: in the threads of a crew no exception of C++ can be thrown
// once memory has ended.
template <class T>
class Scratch {
    static_assert(std::is_trivially_copy_constructible<T>::value, "they are moved as bytes");
    static_assert(std::is_trivially_destructible<T>::value, "nobody destroys them");
    T* items = nullptr;
    ptrdiff_t room = 0, n = 0;

public:
    Scratch() = default;
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() { std::free((void*)items); }

    ptrdiff_t size() const { return n; }
    T* data() { return items; }
    T& operator[](ptrdiff_t k) {
#ifdef _GLIBCXX_ASSERTIONS
        if (k < 0 || k >= n) std::abort();
#endif
        return items[k];
    }

    // n of them: the first ones are as before, others hold any numbers
    int resize(ptrdiff_t wanted) {
        if (wanted > room) {
            const ptrdiff_t more = std::max(wanted, room + room / 2);
            void* grown = std::realloc((void*)items, more * sizeof(T));
            if (!grown) return no_memory();
            items = (T*)grown;
            // padding is computed with, too: what memory held before may be slow numbers
            std::memset((void*)(items + room), 0, (more - room) * sizeof(T));
            room = more;
        }
        n = wanted;
        return 0;
    }

    int refill(ptrdiff_t wanted, T x) {
        if (resize(wanted)) return -1;
        std::fill(items, items + n, x);
        return 0;
    }

    int push(T x) {
        if (resize(n + 1)) return -1;
        items[n - 1] = x;
        return 0;
    }

    T pop() { return items[--n]; }
};

}  // namespace sskit
