/* For every processor of its kind. */
#define COMPUTE compute_baseline
#include "compute.inc.h"
