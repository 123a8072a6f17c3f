// What random numbers are drawn for: one list for all rooms. A number is a function of seed,
// purpose, iteration, row and column, so two uses with the same purpose and seed would draw the
// same numbers. Callers of the library choose purposes of their own from kFirstFree on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace jeffreys {

// X(name, number)
#define JEFFREYS_RANDOM_PURPOSES(X)                                                 \
  /* Training */                                                                    \
  X(kShuffle, 1) /* order of the rows; iteration = epoch */                         \
  X(kReverseSamples, 2)                                                             \
  X(kZetaSamples, 3)                                                                \
  X(kDataNoise, 4)                                                                  \
  X(kWarmStart, 5)                                                                  \
  X(kValidation, 6)                                                                 \
  X(kCellPlaces, 7) /* of rows in their cells; row = row of the data */             \
  X(kGapPlaces, 8)  /* of rows whose gaps are filled, in their cells */             \
  X(kGapChoices, 9) /* of components and classes for their gaps */                  \
  X(kGapNumbers, 10)                                                                \
  X(kGapSteps, 11)                                                                  \
  X(kGapAcceptance, 12) /* column = number of the move */                           \
  X(kGapClasses, 13)    /* column = category */                                     \
  /* Fitted tables */                                                               \
  X(kTableSamples, 0x100)                                                           \
  X(kRowZeta, 0x101)                                                                \
  X(kGapStart, 0x102) /* iteration = number of components */                        \
  X(kGapMixtureSamples, 0x103)                                                      \
  X(kGapDraws, 0x104)  /* iteration = row of the table and part of its draws */     \
  X(kGapChoice, 0x105) /* which of them, likewise */                                \
  X(kComparedSamples, 0x110)                                                        \
  /* Experiments */                                                                 \
  X(kEvaluationSamples, 0x200)                                                      \
  X(kCategoryNoise, 0x201)                                                          \
  X(kPosteriorSamples, 0x202)                                                       \
  X(kLangevinStart, 0x203)                                                          \
  /* Simulation-based inference */                                                  \
  X(kPriorSamples, 0x300)                                                           \
  X(kPosteriorDraws, 0x301)                                                         \
  X(kCommitteeOutcomes, 0x302)                                                      \
  X(kCommitteeChoice, 0x303)                                                        \
  /* Adversarial training; iteration = step of the critic or of the generator */    \
  X(kCriticNoise, 0x400)                                                            \
  X(kMixing, 0x401)                                                                 \
  X(kCriticRows, 0x402)                                                             \
  X(kGeneratorNoise, 0x403)                                                         \
  /* Image classifier */                                                            \
  X(kClassifierStart, 0x410) /* iteration = layer */                                \
  X(kClassifierOrder, 0x411) /* iteration = epoch */                                \
  /* Pictures */                                                                    \
  X(kHeldOutImages, 0x500)                                                          \
  X(kImageOrder, 0x501)         /* iteration = epoch */                             \
  X(kAutoencoderWeights, 0x502) /* iteration = block */                             \
  X(kImageSamples, 0x503)                                                           \
  /* Evaluation */                                                                  \
  X(kMixtureStart, 0xfc00) /* iteration = number of the attempt */                  \
  X(kMixturePart, 0xfc01)                                                           \
  X(kMixtureNoise, 0xfc02)                                                          \
  X(kNetworkStart, 0xfc10) /* iteration = number, row = layer */                    \
  X(kBatchOrder, 0xfc11)   /* iteration = number and epoch */                       \
  X(kFoldOrder, 0xfc12)                                                             \
  X(kSpreadRanks, 0xfc20)                                                           \
  X(kReferencePoint, 0xfc21)                                                        \
  X(kTies, 0xfc22)          /* column = parameter, then density and distance */     \
  X(kResampledRows, 0xfc30) /* iteration = number of the draw, of either set */     \
  X(kHalves, 0xfc31)        /* iteration = number of the cut */                     \
  /* Data */                                                                        \
  X(kSplitPurpose, 0xfd00)                                                          \
  X(kCellPoints, 0xfd01) /* iteration = turn */                                     \
  X(kPartsPurpose, 0xfd02)                                                          \
  X(kRowOrder, 0xfd03)                                                              \
  X(kGroupOrder, 0xfd04)                                                            \
  X(kChosenRows, 0xfd05)                                                            \
  X(kSourceUniform, 0xfe00)                                                         \
  X(kSourceNormal, 0xfe01)                                                          \
  X(kSourceLayout, 0xfe02)                                                          \
  X(kTaskPrior, 0xfe10)                                                             \
  X(kTaskPriorNormal, 0xfe11) /* a task's normal numbers follow its uniform ones */ \
  X(kTaskOutcome, 0xfe12)                                                           \
  X(kTaskOutcomeNormal, 0xfe13)                                                     \
  X(kTaskPosterior, 0xfe14)                                                         \
  X(kTaskPosteriorNormal, 0xfe15)                                                   \
  /* Models */                                                                      \
  X(kInitialWeights, 0xff00)                                                        \
  X(kRandomOrder, 0xff01)                                                           \
  X(kSpectralStart, 0xff02)                                                         \
  X(kLangevinNoise, 0xff03)                                                         \
  X(kMetropolis, 0xff04)

#define JEFFREYS_PURPOSE(name, number) inline constexpr std::uint16_t name = number;
JEFFREYS_RANDOM_PURPOSES(JEFFREYS_PURPOSE)
#undef JEFFREYS_PURPOSE

#define JEFFREYS_PURPOSE(name, number) number,
inline constexpr auto kRandomPurposes =
    std::to_array<std::uint16_t>({JEFFREYS_RANDOM_PURPOSES(JEFFREYS_PURPOSE)});
#undef JEFFREYS_PURPOSE
#undef JEFFREYS_RANDOM_PURPOSES

inline constexpr std::uint16_t kFirstFree = 0x1000;

}  // namespace jeffreys
