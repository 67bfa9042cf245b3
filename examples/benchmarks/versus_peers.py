"""Against other packages at equal objective and data.

"ocr": pystruct and SVM-hmm on OCR-small, whose figures are recorded. "rows": LinearSVC with the
loss of Crammer and Singer on digits and USPS. "text": the trainers of CRFsuite on CoNLL-2000, if
python-crfsuite is installed. Needs the data sets, see sskit.datasets.

    python examples/benchmarks/versus_peers.py [--only ocr rows text] [--full] [--seeds 3]
        [--out FOLDER]
"""

import argparse
import csv
import importlib.util
import warnings
from pathlib import Path

import _peers_ocr
import _peers_rows
import _peers_text
from sklearn.exceptions import ConvergenceWarning

PARTS = {"ocr": _peers_ocr, "rows": _peers_rows, "text": _peers_text}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--full", action="store_true", help="the long trainings of text, too")
    parser.add_argument("--seeds", type=int, default=3, help="or repeats, where one seed is used")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    options.out.mkdir(parents=True, exist_ok=True)
    for part in options.only:
        if part == "text" and importlib.util.find_spec("pycrfsuite") is None:
            print("text: python-crfsuite is not installed")
            continue
        columns, rows = PARTS[part].compare(options)
        with (options.out / f"peers_{part}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(rows)
        print()
