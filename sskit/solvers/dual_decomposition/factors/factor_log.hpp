// What one shard did in a round: its moves, and what its blocks were before.
#pragma once
#include <cstdint>

#include "buffer.hpp"

namespace sskit {

// weights += step * (features of a state of a node or an edge)
struct FactorMove {
    double step, score;  // score: of the state before the move, under the weights of the shard
    ptrdiff_t block, factor;
    std::int32_t state;
    bool edge;
};

// Lists of numbers one after the other, which are read in the order in which they were written.
class Tape {
    Buffer<unsigned char> bytes;
    ptrdiff_t at = 0;

public:
    template <class T>
    bool write(const T* items, ptrdiff_t n) {
        return bytes.push((const unsigned char*)&n, sizeof n) &&
               bytes.push((const unsigned char*)items, n * sizeof(T));
    }

    // the number of items of the next list, and then the list
    ptrdiff_t next() {
        ptrdiff_t n;
        std::memcpy(&n, bytes.data() + at, sizeof n);
        at += sizeof n;
        return n;
    }
    template <class T>
    void read(T* items, ptrdiff_t n) {
        if (n) std::memcpy((void*)items, bytes.data() + at, n * sizeof(T));
        at += n * sizeof(T);
    }

    void clear() { bytes.n = at = 0; }
};

}  // namespace sskit
