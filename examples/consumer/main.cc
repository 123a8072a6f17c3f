// A program outside the project: it sees the installed headers and library, nothing else.
#include <iostream>

#include "jeffreys/input_error.h"

int main() {
  const jeffreys::InputError error("table.csv", "a row with 3 instead of 4 cells", 7);
  std::cout << error.what() << '\n';
}
