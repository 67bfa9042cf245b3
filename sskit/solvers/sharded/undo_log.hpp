// What the blocks were before the visits of a round.
#pragma once
#include <cstddef>
#include <cstdint>
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

struct BlockBefore {
    ptrdiff_t block, n_entries, n_planes;
    ptrdiff_t first_entry, first_weight;  // of its own in the log
    double loss, aggregate;
};

// Filled by one thread; memory grows as needed and is used again.
struct UndoLog {
    Stack<BlockBefore> blocks;
    Stack<std::int32_t> index;
    Stack<double> value, weight;

    // false if there is no memory; then there is nothing to be done with the log but to clear it
    bool add(ptrdiff_t block, const std::int32_t* indices, const double* values, ptrdiff_t n_entries,
             const double* weights, ptrdiff_t n_planes, double loss, double aggregate) {
        const BlockBefore before = {block,    n_entries, n_planes, index.n,
                                    weight.n, loss,      aggregate};
        return index.push(indices, n_entries) && value.push(values, n_entries) &&
               weight.push(weights, n_planes) && blocks.push(&before, 1);
    }

    void clear() { blocks.n = index.n = value.n = weight.n = 0; }
};

}  // namespace sskit
