// Numbers of 16 and 32 bits, made double.
#pragma once
#include <cstring>

#include "lanes.hpp"

namespace sskit {

// float16 of IEEE 754, which not every compiler knows
struct Half {
    uint16_t bits;
};

SSKIT_INLINE double number(double x) { return x; }
SSKIT_INLINE double number(float x) { return x; }

// Finite ones only. Exponents are biased by 15 there and by 127 in a float; numbers without a
// leading one get it and lose it again.
SSKIT_INLINE float to_float(Half x) {
    const uint32_t size = (uint32_t)(x.bits & 0x7fff) << 13, sign = (uint32_t)(x.bits & 0x8000) << 16;
    const uint32_t small = size < (1u << 23);
    uint32_t bits = size + ((112u + small) << 23);
    float value;
    memcpy(&value, &bits, sizeof(value));
    value -= small ? 6.103515625e-05f : 0.0f;  // 2^-14
    memcpy(&bits, &value, sizeof(value));
    bits |= sign;
    memcpy(&value, &bits, sizeof(value));
    return value;
}
SSKIT_INLINE double number(Half x) { return to_float(x); }

}  // namespace sskit
