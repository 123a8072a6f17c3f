// Draws the density of a random two-dimensional flow, with some of its samples, as a picture.
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "jeffreys/model/spline_flow.h"

namespace {

using jeffreys::Matrix;
using jeffreys::SplineFlow;

constexpr const char* kHelp =
    "usage: draw_density [--seed N] [--output FILE.png|FILE.svg]\n"
    "\n"
    "Draws the density of a random neural spline flow in two dimensions, with 300 of its samples.\n"
    "\n"
    "  --seed N       another flow (default 1)\n"
    "  --output FILE  where to draw, .png or .svg (default density.png)\n"
    "\n"
    "example: draw_density --seed 7 --output flow.svg\n";

struct Options {
  std::uint64_t seed = 1;
  std::string output = "density.png";
};

Options parse(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (name == "--help" || name == "-h") {
      std::fputs(kHelp, stdout);
      std::exit(0);
    }
    if (i + 1 == count)
      throw std::invalid_argument(name + ": unknown option, or its value is missing");
    const std::string value = arguments[++i];
    if (name == "--seed") {
      const auto [end, error] =
          std::from_chars(value.data(), value.data() + value.size(), options.seed);
      if (error != std::errc() || end != value.data() + value.size()) {
        throw std::invalid_argument("--seed: expected a whole number from 0, got '" + value + "'");
      }
    } else if (name == "--output") {
      options.output = value;
    } else {
      throw std::invalid_argument(name + ": unknown option");
    }
  }
  return options;
}

// Fresh flows are close to the identity; larger weights bend the density.
SplineFlow<double> random_flow(std::uint64_t seed) {
  SplineFlow<double> flow({.features = 2, .transforms = 4, .bins = 8, .seed = seed});
  flow.edit_parameters([](std::span<double> parameters) {
    for (double& p : parameters) p *= 1.6;
  });
  return flow;
}

constexpr Eigen::Index kGrid = 201;
constexpr double kLimit = 4.0;

double coordinate(Eigen::Index i) {
  return -kLimit + 2 * kLimit * static_cast<double>(i) / static_cast<double>(kGrid - 1);
}

Matrix<double> grid_points() {
  Matrix<double> points(kGrid * kGrid, 2);
  for (Eigen::Index i = 0; i < kGrid; ++i) {
    for (Eigen::Index j = 0; j < kGrid; ++j)
      points.row(i * kGrid + j) << coordinate(j), coordinate(i);
  }
  return points;
}

void draw(const SplineFlow<double>& flow, const Options& options) {
  const bool svg = options.output.ends_with(".svg");
  if (!svg && !options.output.ends_with(".png")) {
    throw std::invalid_argument("--output: expected a name that ends with .png or .svg, got " +
                                options.output);
  }
  if (options.output.find('\'') != std::string::npos) {
    throw std::invalid_argument("--output: expected a name without quotes, got " + options.output);
  }
  const std::unique_ptr<FILE, int (*)(FILE*)> plot(popen("gnuplot", "w"), pclose);
  if (!plot) throw std::runtime_error("cannot start gnuplot: install the package gnuplot-nox");
  FILE* out = plot.get();
  std::fprintf(out, "set terminal %s\n", svg ? "svg size 720,640" : "pngcairo size 720,640");
  std::fprintf(out, "set output '%s'\n", options.output.c_str());
  std::fprintf(
      out,
      "set palette defined (0 '#ffffff', 1 '#cfe1f2', 2 '#6aaed6', 3 '#1d6bb0', 4 '#08306b')\n"
      "set size ratio -1\nset xrange [-%g:%g]\nset yrange [-%g:%g]\n"
      "set xlabel 'x_1'\nset ylabel 'x_2'\nset cblabel 'density'\n"
      "set title 'A random spline flow (seed %llu) and 300 of its samples'\n"
      "plot '-' binary array=(%ld,%ld) origin=(-%g,-%g) dx=%g dy=%g format='%%double' "
      "with image notitle, '-' with points pt 7 ps 0.35 lc rgb '#d95f02' notitle\n",
      kLimit, kLimit, kLimit, kLimit, static_cast<unsigned long long>(options.seed),
      static_cast<long>(kGrid), static_cast<long>(kGrid), kLimit, kLimit,
      2 * kLimit / static_cast<double>(kGrid - 1), 2 * kLimit / static_cast<double>(kGrid - 1));
  const jeffreys::Vector<double> density = flow.log_prob(grid_points()).array().exp();
  std::fwrite(density.data(), sizeof(double), static_cast<std::size_t>(density.size()), out);
  const jeffreys::Samples<double> samples = flow.sample(300, {.seed = options.seed});
  for (Eigen::Index r = 0; r < samples.x.rows(); ++r) {
    std::fprintf(out, "%g %g\n", samples.x(r, 0), samples.x(r, 1));
  }
  std::fputs("e\n", out);
  const double cell = 2 * kLimit / static_cast<double>(kGrid - 1);
  std::printf("mass on [-%g, %g]^2: %.4f\n", kLimit, kLimit, density.sum() * cell * cell);
}

}  // namespace

int main(int count, char** arguments) try {
  const Options options = parse(count, arguments);
  draw(random_flow(options.seed), options);
  std::printf("drew %s\n", options.output.c_str());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "draw_density: %s\n", error.what());
  return 2;
}
