// Every kernel is one function template on float and double that takes one argument struct. Highway
// compiles it once for each instruction set and picks the best at run time:
//
//   inside HWY_NAMESPACE:  template <typename T> void dense_impl(const DenseArguments<T>&);
//                          JEFFREYS_KERNEL(dense, DenseArguments)
//   under HWY_ONCE:        JEFFREYS_EXPORT_KERNEL(dense, DenseArguments)
//
// Include this after hwy/highway.h.
#pragma once

#define JEFFREYS_KERNEL(name, Arguments)                                                \
  void name##_f32(const Arguments<float>& arguments) { name##_impl<float>(arguments); } \
  void name##_f64(const Arguments<double>& arguments) { name##_impl<double>(arguments); }

#define JEFFREYS_EXPORT_KERNEL(name, Arguments)                                                 \
  HWY_EXPORT(name##_f32);                                                                       \
  HWY_EXPORT(name##_f64);                                                                       \
  void name(const Arguments<float>& arguments) { HWY_DYNAMIC_DISPATCH(name##_f32)(arguments); } \
  void name(const Arguments<double>& arguments) { HWY_DYNAMIC_DISPATCH(name##_f64)(arguments); }
