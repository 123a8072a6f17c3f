#include "report/gnuplot.h"

#include <fmt/format.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <span>
#include <system_error>

#include "jeffreys/base/input_error.h"
#include "jeffreys/storage/atomic_file.h"

namespace jeffreys::report {
namespace {

namespace fs = std::filesystem;

constexpr int kNotFound = 127;  // as shells say it

[[noreturn]] void fail(const fs::path& path, const std::string& reason) {
  throw InputError(path.string(), "cannot draw: " + reason);
}

// A file without a name: it disappears with its last descriptor, however this process ends. Files
// instead of pipes, since nobody can block on the other's reading, or die of it.
class NamelessFile {
 public:
  explicit NamelessFile(const fs::path& purpose) : file_(std::tmpfile(), &std::fclose) {
    if (!file_) {
      fail(purpose, "no temporary file: " + std::generic_category().message(errno));
    }
  }

  int descriptor() const { return ::fileno(file_.get()); }

  bool write(std::string_view text) {
    const bool written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
    if (!written || std::fflush(file_.get()) != 0) return false;
    std::rewind(file_.get());
    return ::lseek(descriptor(), 0, SEEK_SET) == 0;
  }

  std::string read() {
    std::rewind(file_.get());
    std::string text;
    char buffer[4096];
    while (const std::size_t count = std::fread(buffer, 1, sizeof(buffer), file_.get())) {
      text.append(buffer, count);
    }
    return text;
  }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

// Runs a program without a shell and gives its exit code, negative when a signal ended it. Between
// fork and exec only calls that are safe while other threads hold locks.
int run_program(const fs::path& path, char* const* arguments, int input, int output, int errors) {
  const ::pid_t child = ::fork();
  if (child < 0) fail(path, "no process: " + std::generic_category().message(errno));
  if (child == 0) {
    if (::dup2(input, 0) >= 0 && ::dup2(output, 1) >= 0 && ::dup2(errors, 2) >= 0) {
      std::signal(SIGPIPE, SIG_DFL);
      ::execvp(arguments[0], arguments);
    }
    ::_exit(errno == ENOENT ? kNotFound : kNotFound - 1);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    // Somebody ignores SIGCHLD, so there is no status: the picture has to speak for itself.
    if (errno != EINTR) return 0;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int run_gnuplot(const fs::path& path, int input, int output, int errors) {
  char program[] = "gnuplot";
  char no_user_settings[] = "--default-settings";
  char from_input[] = "/dev/stdin";  // "-" means the same, but is read byte by byte
  char* const arguments[] = {program, no_user_settings, from_input, nullptr};
  return run_program(path, arguments, input, output, errors);
}

// Whether a font of this machine has the letter.
bool has_glyph(const fs::path& path, char32_t letter) {
  NamelessFile nothing(path);
  NamelessFile fonts(path);
  NamelessFile errors(path);
  char program[] = "fc-list";
  std::string wanted = fmt::format(":charset={:x}", static_cast<std::uint32_t>(letter));
  char* const arguments[] = {program, wanted.data(), nullptr};
  const int code =
      run_program(path, arguments, nothing.descriptor(), fonts.descriptor(), errors.descriptor());
  return code == 0 && !fonts.read().empty();
}

// Gnuplot draws letters for which there is no font as boxes that cover the whole picture: small
// ones take their place. Every font has those of Europe.
std::string with_known_letters(const fs::path& path, const std::string& text) {
  constexpr char32_t kKnown = 0x590;
  constexpr std::size_t kMostLookups = 60;
  std::map<char32_t, bool> known;
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    char32_t letter = size == 1 ? first : first & (0xffU >> (size + 1));
    for (std::size_t k = 1; k < size && i + k < text.size(); ++k) {
      letter = (letter << 6) | (static_cast<unsigned char>(text[i + k]) & 0x3fU);
    }
    const bool punctuation = letter >= 0x2000 && letter < 0x2700;
    if (letter >= kKnown && !punctuation && !known.contains(letter)) {
      known[letter] = known.size() < kMostLookups && has_glyph(path, letter);
    }
    const bool drawn = letter < kKnown || punctuation || known[letter];
    result += drawn ? text.substr(i, size) : "\u25a1";
    i += size;
  }
  return result;
}

bool is_svg(const fs::path& path) { return path.extension() == ".svg"; }

// Pictures from a process that died early lack the end.
bool is_whole(const std::string& picture, bool svg) {
  constexpr std::string_view kSvgEnd = "</svg>";
  constexpr std::string_view kPngEnd = "IEND\xae\x42\x60\x82";
  const std::string_view end = svg ? kSvgEnd : kPngEnd;
  const std::size_t found = picture.rfind(end);
  return found != std::string::npos && found + end.size() + 8 >= picture.size();
}

// The first line that says what is wrong; gnuplot also echoes the command, with a mark under it.
std::string complaint(const std::string& errors) {
  std::size_t from = errors.find("line ");
  if (from == std::string::npos) from = errors.find_first_not_of(" \n");
  if (from == std::string::npos) return "no message";
  return errors.substr(from, errors.find('\n', from) - from);
}

// A PNG has twice the pixels, everything twice as large: sharp on today's screens. Its fonts are in
// points, those of an SVG in pixels; both look alike.
std::string terminal(const Script& script, bool svg) {
  if (svg) {
    return fmt::format(
        "set terminal svg size {},{} font 'sans-serif,9' fontscale 1.3 background '#ffffff' "
        "standalone\n",
        script.width(), script.height());
  }
  const std::string size = fmt::format("size {},{}", 2 * script.width(), 2 * script.height());
  return fmt::format(
      "if (strstrt(GPVAL_TERMINALS, 'pngcairo') > 0) {{\n"
      "set terminal pngcairo {0} font 'sans,9' fontscale 2 linewidth 2 pointscale 2\n"
      "}} else {{\n"
      "set terminal png {0} font 'sans,9' fontscale 2 linewidth 2\n"
      "}}\n",
      size);
}

}  // namespace

void check_extension(const fs::path& path) {
  if (is_svg(path) || path.extension() == ".png") return;
  throw InputError(path.string(), "cannot draw: expected a file name that ends with .svg or .png");
}

void render(const fs::path& path, const Script& script) {
  check_extension(path);
  const bool svg = is_svg(path);
  storage::AtomicFile target(path);
  NamelessFile input(path);
  NamelessFile output(path);
  NamelessFile errors(path);
  // An SVG is drawn where it is looked at.
  const std::string text = svg ? script.text() : with_known_letters(path, script.text());
  if (!input.write("set encoding utf8\n" + terminal(script, svg) + text)) {
    fail(path, "a temporary file cannot be written; is the disk full?");
  }
  const int code = run_gnuplot(path, input.descriptor(), output.descriptor(), errors.descriptor());
  if (code == kNotFound) {
    fail(path, "gnuplot is not installed; on Debian: apt install gnuplot-nox");
  }
  if (code < 0) fail(path, fmt::format("gnuplot was ended by signal {}", -code));
  if (code != 0) {
    fail(path, fmt::format("gnuplot failed with code {}: {}", code, complaint(errors.read())));
  }
  const std::string picture = output.read();
  if (!is_whole(picture, svg)) {
    fail(path, "gnuplot gave no whole picture: " + complaint(errors.read()));
  }
  target.write(std::as_bytes(std::span(picture)));
  target.commit();
}

}  // namespace jeffreys::report
