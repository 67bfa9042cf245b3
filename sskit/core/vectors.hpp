// What std::vector does where Cython's own declaration does not say that memory may end.
#pragma once
#include <cstddef>
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

}  // namespace sskit
