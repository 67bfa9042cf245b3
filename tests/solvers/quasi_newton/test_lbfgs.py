"""Limited-memory BFGS: certificates, other ways to the same optimum, ends of fits."""

import numpy as np
import pytest
from helpers.interruption import PressAfter
from helpers.objectives import log_losses
from helpers.toys import chain_toy, multiclass_toy
from scipy.optimize import minimize

from sskit.core.regularizer import BoxRegularizer, Regularizer
from sskit.models.likelihood.log_loss import likelihood_of
from sskit.solvers import BCFW, LBFGS
from sskit.solvers.common.fit import begin
from sskit.solvers.common.solution import Status
from sskit.solvers.quasi_newton import lbfgs

LAM = 0.05
