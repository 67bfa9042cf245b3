"""CRFsuite's files: its models, and its files of labels and attributes."""

from sskit._public import export_from
from sskit.crfsuite._attributes import describe_columns, load_attributes
from sskit.crfsuite._models import load_crfsuite, save_crfsuite

__all__ = ["describe_columns", "load_attributes", "load_crfsuite", "save_crfsuite"]

export_from(__name__)
