"""The order of the gallery: sections by task, and in each what most people come for first."""

SECTIONS = {
    "text": (
        "chunking errors reliability feature_weights transitions grid_search adaptation "
        "hidden_labels costs second_order embeddings edge_features segments digit_strings "
        "hidden_states slack_rescaling"
    ),
    "images": "segmentation snakes poses",
    "rows": "multilabel ranking kernels kernel_probabilities latent_digits",
    "structures": "parsing compiled_parse alignment matching detection",
    "fits": (
        "certificates convergence regularization_path warm_start gap_sampling many_labels "
        "several_cores out_of_core network_layer"
    ),
}
ORDER = " ".join(SECTIONS.values()).split()


class PlaceInSection:
    """Sorts the examples of a section as they are listed above."""

    def __init__(self, src_dir):
        self.src_dir = src_dir

    def __call__(self, name):
        """Return the place of a file."""
        return ORDER.index(name.removeprefix("plot_").removesuffix(".py"))

    def __repr__(self):
        return "PlaceInSection()"
