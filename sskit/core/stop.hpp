// Seconds, for code without the GIL.
#pragma once
#include <chrono>

namespace sskit {

// of a clock that never goes back
inline double seconds() {
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace sskit
