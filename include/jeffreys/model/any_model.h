// A model of any kind as a value: it owns the model, and a copy is a model of its own. One that was
// moved from, or released, can only be assigned to or destroyed.
#pragma once

#include <concepts>
#include <memory>
#include <stdexcept>
#include <utility>

#include "jeffreys/model/density.h"

namespace jeffreys {

// Model: UnnormalizedDensity<T> or Density<T>.
template <typename T, typename Model>
class OwnedModel {
 public:
  template <std::derived_from<Model> Kind>
  OwnedModel(Kind model) : model_(std::make_unique<Kind>(std::move(model))) {}

  // Throws std::invalid_argument for no model, and for one that is not a Model: an energy model
  // where a density is needed.
  explicit OwnedModel(std::unique_ptr<UnnormalizedDensity<T>> model) {
    if (model == nullptr) throw std::invalid_argument("expected a model, got none");
    auto* wanted = dynamic_cast<Model*>(model.get());
    if (wanted == nullptr) throw std::invalid_argument("expected a model that draws samples");
    static_cast<void>(model.release());
    model_.reset(wanted);
  }

  OwnedModel(const OwnedModel& other) : OwnedModel(other->clone()) {}
  OwnedModel& operator=(const OwnedModel& other) {
    if (this != &other) *this = OwnedModel(other);
    return *this;
  }
  OwnedModel(OwnedModel&&) noexcept = default;
  OwnedModel& operator=(OwnedModel&&) noexcept = default;
  ~OwnedModel() = default;

  [[nodiscard]] Model& operator*() { return *model_; }
  [[nodiscard]] const Model& operator*() const { return *model_; }
  [[nodiscard]] Model* operator->() { return model_.get(); }
  [[nodiscard]] const Model* operator->() const { return model_.get(); }

  // The model itself; nothing is left here.
  [[nodiscard]] std::unique_ptr<UnnormalizedDensity<T>> release() && { return std::move(model_); }

 private:
  std::unique_ptr<Model> model_;
};

template <typename T>
using AnyModel = OwnedModel<T, UnnormalizedDensity<T>>;
template <typename T>
using AnyDensity = OwnedModel<T, Density<T>>;

}  // namespace jeffreys
