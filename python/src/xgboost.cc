// XGBoost is needed for one test of samples alone, and takes a while to load: so the module is not
// linked with it. These functions stand in for those that the library calls; the first call loads
// the real ones.
#include <dlfcn.h>
#include <xgboost/c_api.h>

#include <stdexcept>
#include <string>

namespace {

void* library() {
  static void* const handle = [] {
    for (const char* name : {"libxgboost.so.0", "libxgboost.so"}) {
      if (void* found = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return found;
    }
    throw std::runtime_error(
        "this test needs the library XGBoost, which is not installed: install the Debian package "
        "libxgboost0, or ask for method=\"network\"");
  }();
  return handle;
}

template <typename Function>
Function* find(const char* name) {
  void* const found = dlsym(library(), name);
  if (found == nullptr) throw std::runtime_error(std::string("XGBoost has no function ") + name);
  return reinterpret_cast<Function*>(found);
}

}  // namespace

#define FORWARD(result, name, parameters, arguments)          \
  result name parameters {                                    \
    static auto* const real = find<result parameters>(#name); \
    return real arguments;                                    \
  }

extern "C" {
FORWARD(const char*, XGBGetLastError, (), ())
FORWARD(int, XGBGetGlobalConfig, (const char** out), (out))
FORWARD(int, XGBSetGlobalConfig, (const char* json), (json))
FORWARD(int, XGDMatrixFree, (DMatrixHandle handle), (handle))
FORWARD(int, XGBoosterFree, (BoosterHandle handle), (handle))
FORWARD(int, XGDMatrixCreateFromMat_omp,
        (const float* data, bst_ulong rows, bst_ulong columns, float missing, DMatrixHandle* out,
         int threads),
        (data, rows, columns, missing, out, threads))
FORWARD(int, XGDMatrixSetFloatInfo,
        (DMatrixHandle handle, const char* field, const float* data, bst_ulong size),
        (handle, field, data, size))
FORWARD(int, XGBoosterCreate, (const DMatrixHandle data[], bst_ulong size, BoosterHandle* out),
        (data, size, out))
FORWARD(int, XGBoosterSetParam, (BoosterHandle handle, const char* name, const char* value),
        (handle, name, value))
FORWARD(int, XGBoosterUpdateOneIter, (BoosterHandle handle, int round, DMatrixHandle data),
        (handle, round, data))
FORWARD(int, XGBoosterPredictFromDMatrix,
        (BoosterHandle handle, DMatrixHandle data, char const* config, bst_ulong const** shape,
         bst_ulong* dimensions, float const** out),
        (handle, data, config, shape, dimensions, out))
FORWARD(void, XGBoostVersion, (int* major, int* minor, int* patch), (major, minor, patch))
}
