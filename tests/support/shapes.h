/*
 * shapes: from which parameters the random traces of a shape (generate.h) are drawn.
 */
#ifndef MR_TESTS_SUPPORT_SHAPES_H
#define MR_TESTS_SUPPORT_SHAPES_H

#include "generate.h"
#include "program.h"

enum {
    MR_SHAPE_THREADS = 6,      /* of a short trace at most */
    MR_SHAPE_MOST_EVENTS = 20, /* likewise */
};

/* What all shapes begin with. */
mr_parameters mr_shape_any(mr_random *random);

/* Makes the parameters those of the shape. */
void mr_shape_apply(mr_random *random, mr_shape shape, mr_parameters *parameters);

#endif
