"""Validation: data of users are checked and packed, once."""

# Design
#
# What. Arguments of users become checked arrays: ragged rows, segments, graphs, trees, score maps,
# sets of labels, weights, costs, tokens as dicts or strings. Nothing behind this package checks
# data again.
#
# Why so.
# - Validate fast, explain slowly: one compiled check of the usual case; if it fails, checks item by
#   item, so that the error names the item and what was expected ("X[17] has 40 rows but y[17] has
#   38 labels").
# - A container records its check: rows of a `SoundArray` have just been made here, and are not
#   checked a second time. A request of one sentence takes microseconds, of which a check would be
#   most.
# - Rows are stacked into one matrix with offsets: compiled code reads blocks of it, and nothing is
#   copied if the user's matrix is already in the right form.
# - Token features are numbered here, not by scikit-learn's DictVectorizer: one pass over the dicts,
#   in compiled code, and errors that name the token and the attribute.
#
# Tried or considered, and left. scikit-learn's `check_array` for each item: it takes longer than a
# short sequence, so that it is called only to explain an error. Lists of arrays up to the solvers:
# every loop then had to look up its block in Python. Silent conversion of strings to numbers, as
# NumPy does: they are refused by name.
