#!/bin/sh
# A decaying signal, measured five times with noise.
#   parameters: amplitude, rate
#   outcomes:   amplitude * exp(-rate * time) + normal noise of deviation 0.1, at times 0, 1, 2, 3, 4
# The noise of a row depends on the seed and the row's number alone.
exec awk -F, -v seed="${JEFFREYS_SEED:-0}" -v first="${JEFFREYS_FIRST_ROW:-0}" '
function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand()) }
{
  # Neighbouring rows get distant seeds: many versions of awk start alike for nearby ones.
  srand(((seed % 65536 + 1) * 7919 + (first + NR) * 48271) % 2147483647)
  for (time = 0; time < 5; ++time)
    printf "%.17g%s", $1 * exp(-$2 * time) + 0.1 * normal(), time < 4 ? "," : "\n"
}'
