// Links in the order of their edges.
#pragma once
#include <algorithm>

namespace sskit {

// Most stand in order: new ones come last.
template <class Link>
inline void sort_by_edge(Link* begin, Link* end) {
    const auto before = [](const Link& a, const Link& b) { return a.edge < b.edge; };
    Link* middle = std::is_sorted_until(begin, end, before);
    std::sort(middle, end, before);
    std::inplace_merge(begin, middle, end, before);
}

}  // namespace sskit
