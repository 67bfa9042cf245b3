"""The LP relaxation of label sets with further inequalities, on a model that is kept."""

import numpy as np
from scipy.sparse import csr_array, vstack

from sskit.oracles.label_sets.relaxation import local_polytope


class ConstrainedLP:
    """The best point of the local polytope that satisfies two further inequalities.

    Maximises ``gain @ m`` over ``m = (y, z)`` of the local polytope with ``rows @ m <= limits``.
    With two rows these are the queries of the angular search for slack rescaling [1]_: the
    labels of a cone of slopes. HiGHS starts from the vertex of the last query.

    Parameters
    ----------
    n_labels : int
        Number of labels.
    edges : ndarray of int of shape (n_edges, 2)
        Pairs of different labels.

    Raises
    ------
    ImportError
        If the package highspy is missing.

    References
    ----------
    .. [1] Choi, Meshi and Srebro (2016). Fast and scalable structural SVM with slack rescaling.
       AISTATS, appendix F.
    """

    def __init__(self, n_labels, edges):
        try:
            import highspy
        except ImportError:
            raise ImportError("ConstrainedLP needs the package highspy") from None
        A, b = local_polytope(n_labels, edges)
        self.n_labels = n_labels
        self.n_rows, self.n_columns = A.shape
        matrix = vstack([A, csr_array(np.ones((2, self.n_columns)))]).tocsr()
        lp = highspy.HighsLp()
        lp.sense_ = highspy.ObjSense.kMaximize
        lp.num_row_, lp.num_col_ = matrix.shape
        lp.col_cost_ = np.zeros(self.n_columns)
        lp.col_lower_, lp.col_upper_ = np.zeros(self.n_columns), np.ones(self.n_columns)
        lp.row_lower_ = np.full(len(b) + 2, -highspy.kHighsInf)
        lp.row_upper_ = np.concatenate([b, [highspy.kHighsInf] * 2])
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_, lp.a_matrix_.index_ = matrix.indptr, matrix.indices
        lp.a_matrix_.value_ = matrix.data
        self._status = highspy.HighsModelStatus
        self._infinity = highspy.kHighsInf
        self._columns = np.arange(self.n_columns, dtype=np.int32)
        self._model = _silent_highs(highspy)
        # presolving would lose the vertex of the last query
        for name, value in (("presolve", "off"), ("solver", "simplex")):
            self._model.setOptionValue(name, value)
        self._model.passModel(lp)

    def find(self, gain, rows, limits):
        """Return the best point, or None if there is none.

        Parameters
        ----------
        gain : ndarray of shape (n_labels + n_edges,)
            Scores of labels and pairs.
        rows : ndarray of shape (2, n_labels + n_edges)
            Coefficients of the inequalities.
        limits : ndarray of shape (2,)
            Their right-hand sides.

        Returns
        -------
        point : ndarray of shape (n_labels + n_edges,) or None
            y and z.

        Raises
        ------
        RuntimeError
            If HiGHS fails.
        """
        model = self._model
        model.changeColsCost(self.n_columns, self._columns, gain)
        # numbers of one size, as those of the polytope: tolerances are absolute
        scales = np.abs(rows).max(axis=1, initial=1e-300)
        for k in range(2):
            for column, value in enumerate((rows[k] / scales[k]).tolist()):
                model.changeCoeff(self.n_rows + k, column, value)
            limit = float(limits[k] / scales[k])
            model.changeRowBounds(self.n_rows + k, -self._infinity, limit)
        model.run()
        status = model.getModelStatus()
        if status not in (self._status.kInfeasible, self._status.kOptimal):
            # the last vertex was a bad one to start from
            model.clearSolver()
            model.run()
            status = model.getModelStatus()
        if status == self._status.kInfeasible:
            return None
        if status != self._status.kOptimal:
            raise RuntimeError(f"HiGHS stopped with {model.modelStatusToString(status)}")
        return np.clip(model.getSolution().col_value, 0.0, 1.0)


def _silent_highs(highspy):
    """Return a solver that prints nothing."""

    class SilentHighs(highspy.Highs):
        # since 1.16 this is called while the object is made, and the first call prints a banner
        def enableCallbacks(self):
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()

    model = SilentHighs()
    model.setOptionValue("output_flag", False)
    return model
