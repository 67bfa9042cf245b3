// Digests of feature rows, which do not depend on how their numbers are stored.
#pragma once
#include "rows.hpp"

namespace sskit {

// multiply and fold, the step of splitmix64
SSKIT_INLINE uint64_t mixed(uint64_t digest, uint64_t word) {
    digest = (digest ^ word) * 0xBF58476D1CE4E5B9u;
    return digest ^ (digest >> 31);
}

SSKIT_INLINE uint64_t with_entry(uint64_t digest, ptrdiff_t column, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return value == 0.0 ? digest : mixed(mixed(digest, (uint64_t)column), bits);
}

template <class V>
SSKIT_INLINE uint64_t add_row_digest_of(const Rows* rows, const V* values, ptrdiff_t t,
                                        uint64_t digest) {
    Columns f;
    const ptrdiff_t n = columns_of(*rows, t, f);
    const V* x = values_of(*rows, values, t);
    for (ptrdiff_t j = 0; j < n; ++j) digest = with_entry(digest, f[j], number(x[j]));
    SSKIT_MARKED(rows, t, digest = with_entry(digest, c, 1.0))
    return digest;
}

// a digest of what is not zero in row t, and where it stands, on top of another digest
static inline uint64_t add_row_digest(const Rows* rows, ptrdiff_t t, uint64_t digest) {
    SSKIT_BY_TYPE(rows, return add_row_digest_of(rows, values, t, digest))
}

}  // namespace sskit
