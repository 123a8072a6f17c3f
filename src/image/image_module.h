// What needs libtorch: the module jeffreys_images.
#pragma once

namespace jeffreys {

inline constexpr const char* kImagesModule = "jeffreys_images";

// A function of the module. Throws std::runtime_error that says what to install if there is none.
[[nodiscard]] void* images_module_function(const char* name);

}  // namespace jeffreys
