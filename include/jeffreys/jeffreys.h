// All that a program which fits tables or posteriors needs, room by room in the order in which data
// travels. Programs that embed a flow alone include less: jeffreys/model/spline_flow.h.
#pragma once

#include "jeffreys/base/distribution.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/base/matrix.h"
#include "jeffreys/evaluate/held_out.h"
#include "jeffreys/evaluate/two_sample_test.h"
#include "jeffreys/fit/chosen_settings.h"
#include "jeffreys/fit/fit.h"
#include "jeffreys/fit/tabular_density.h"
#include "jeffreys/model/energy_model.h"
#include "jeffreys/model/gaussian_mixture.h"
#include "jeffreys/model/model_file.h"
#include "jeffreys/model/spline_flow.h"
#include "jeffreys/sbi/committee_fit.h"
#include "jeffreys/sbi/posterior.h"
#include "jeffreys/sbi/posterior_fit.h"
#include "jeffreys/sbi/prior.h"
#include "jeffreys/sbi/simulate.h"
#include "jeffreys/table/table_file.h"
#include "jeffreys/train/trainer.h"
#include "jeffreys/version.h"
