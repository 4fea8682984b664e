"""Names that stand for code: methods on the command line, and what a model folder may hold.

A manifest names a method or one of the classes below, never a module: what is not in these tables
is not loaded. A method's line has the classes of its own folder that are stored with it, so that a
method is removed with its folder and its line.
"""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

DEFAULT_METHOD = "labelspace"


class Method(NamedTuple):
    """Where a method is, what it does in a line, and which parts of its own are stored with it.

    ``path`` and ``parts`` are written as ``module:Class``, below ``labelspace.models``.
    """

    path: str
    summary: str
    parts: tuple[str, ...] = ()

    @property
    def class_name(self) -> str:
        return self.path.partition(":")[2]


METHODS: dict[str, Method] = {
    "labelspace": Method(
        "labelspace.model:LabelSpace",
        "neighbours propose labels, classifiers rank them",
        (
            "labelspace.boosting:BoostedTrees",
            "labelspace.candidates:LabelCentroids",
            "labelspace.impact_index:ImpactIndex",
            "labelspace.leaf_mates:LeafMates",
            "labelspace.name_index:NameIndex",
            "labelspace.settings:LabelSpaceSettings",
            "labelspace.stacking:Stacker",
            "labelspace.vector_space:VectorSpace",
        ),
    ),
    "annexml": Method(
        "annexml.model:AnnexML",
        "votes of nearest rows and labels in a learned space",
        (
            "annexml.graph_index:GraphIndex",
            "annexml.learners:PartitionedLearner",
            "annexml.settings:AnnexMLSettings",
        ),
    ),
    "label-tree": Method(
        "label_trees.label_tree:LabelTree",
        "a linear predictor at each node of a label tree",
        ("label_trees.settings:LabelTreeSettings",),
    ),
    "hyperbolic": Method(
        "hyperbolic.model:Hyperbolic",
        "votes of nearest rows and labels in a ball",
        (
            "hyperbolic.encoder:SpaceEncoder",
            "hyperbolic.learners:JointLearner",
            "hyperbolic.metric_index:MetricIndex",
            "hyperbolic.settings:HyperbolicSettings",
        ),
    ),
    "label-embedding": Method(
        "label_trees.label_embedding:LabelEmbedding",
        "rows and labels in a small space",
        ("label_trees.embedding_settings:LabelEmbeddingSettings",),
    ),
    "label-embedding-tree": Method(
        "label_trees.label_embedding_tree:LabelEmbeddingTree",
        "a label tree that is walked in a small space",
        ("label_trees.embedding_settings:LabelEmbeddingTreeSettings",),
    ),
    "balanced-label-tree": Method(
        "label_trees.balanced_label_tree:BalancedLabelTree",
        "a label tree with learned, overlapping splits of bounded cost",
        ("label_trees.settings:BalancedLabelTreeSettings",),
    ),
    "parabel": Method(
        "label_trees.parabel:Parabel",
        "a few balanced label trees, a linear yes or no at each node",
        ("label_trees.settings:ParabelSettings",),
    ),
    "hierarchicalxc": Method(
        "hierarchical_xc.model:HierarchicalXC",
        "a binary tree of labels that come together, searched best first",
        (
            "hierarchical_xc.best_first:BestFirstIndex",
            "hierarchical_xc.platt:Platt",
            "hierarchical_xc.settings:HierarchicalXCSettings",
        ),
    ),
    "fastxml": Method(
        "row_trees.fastxml:FastXML",
        "trees of rows, split so that labels rank well on both sides",
        ("row_trees.settings:FastXMLSettings",),
    ),
    "pfastrexml": Method(
        "row_trees.pfastrexml:PfastreXML",
        "trees of rows for rare labels, ranked again by label centroids",
        ("row_trees.settings:PfastreXMLSettings",),
    ),
    "lpsr": Method(
        "row_trees.lpsr:LPSR",
        "parts of rows keep the labels that matter there, a scorer ranks them",
        ("row_trees.settings:LPSRSettings",),
    ),
    "glas": Method(
        "glas.model:GLaS",
        "rows and labels on one sphere, by a regularised network (deep)",
        (
            "glas.coarse_to_fine:CoarseToFineIndex",
            "glas.concatenated:ConcatenatedEncoder",
            "glas.joint_embedding:JointEmbedding",
            "glas.settings:GLaSSettings",
        ),
    ),
    "neuralxc": Method(
        "neuralxc.model:NeuralXC",
        "auto-encoders of rows and label sets, joined (deep)",
        (
            "neuralxc.dense_layers:DenseLayers",
            "neuralxc.label_network:LabelNetwork",
            "neuralxc.settings:NeuralXCSettings",
        ),
    ),
    "dxml": Method(
        "dxml.model:DXML",
        "votes of nearest rows where labels' walks put them (deep)",
        ("dxml.learners:DXMLLearner", "dxml.settings:DXMLSettings"),
    ),
    "xml-cnn": Method(
        "xml_cnn.model:XMLCNN",
        "convolutions over the words of a text in their order (deep)",
        ("xml_cnn.convolutions:WordConvolutions", "xml_cnn.settings:XMLCNNSettings"),
    ),
    "sleec": Method(
        "sleec.model:SLEEC",
        "votes of nearest rows in local embeddings of label sets",
        (
            "sleec.learners:LocalEmbedding",
            "sleec.learners:SLEECLearner",
            "sleec.settings:SLEECSettings",
        ),
    ),
    "pdsparse": Method(
        "sparse_margins.pdsparse:PDSparse",
        "max-margin classifiers of all labels together, sparse",
        ("sparse_margins.settings:PDSparseSettings",),
    ),
    "ppdsparse": Method(
        "sparse_margins.ppdsparse:PPDSparse",
        "a max-margin classifier per label, sparse in rows and features",
        ("sparse_margins.settings:PPDSparseSettings",),
    ),
    "proxml": Method(
        "sparse_margins.proxml:ProXML",
        "an L1-regularised classifier per label, for labels with few rows",
        ("sparse_margins.settings:ProXMLSettings",),
    ),
    "leml": Method(
        "leml.model:LEML",
        "a linear map of low rank, its two factors learned together",
        ("leml.settings:LEMLSettings",),
    ),
    "robustxml": Method(
        "leml.robustxml:RobustXML",
        "a linear map of low rank, and a sparse one for rare labels",
        ("leml.settings:RobustXMLSettings",),
    ),
    "wsabie": Method(
        "wsabie.model:WSABIE",
        "rows and labels in one space, by a loss on the ranking of labels",
        ("wsabie.settings:WSABIESettings",),
    ),
    "cplst": Method(
        "label_compression.principal_labels:CPLST",
        "label vectors on a few directions that are long and predictable",
    ),
    "plst": Method(
        "label_compression.principal_labels:PLST",
        "label vectors on the few directions in which they are longest",
    ),
    "cs": Method(
        "label_compression.compressed_sensing:CompressedSensing",
        "label vectors as random sums, found again because they are sparse",
    ),
    "ml-cssp": Method(
        "label_compression.column_subset:MLCSSP",
        "some labels are learned and speak for the others",
    ),
    "one-vs-all": Method(
        "baselines.one_vs_all:OneVsAll", "a linear classifier per label, small weights cut"
    ),
    "knn": Method("baselines.knn:NearestNeighbors", "votes of the nearest rows, on features"),
    "most-common": Method(
        "baselines.most_common:MostCommon", "the same most frequent labels for every row"
    ),
    "random": Method("baselines.random_labels:RandomLabels", "labels drawn at random: the floor"),
}

# What is stored by several methods, or by none in particular.
SHARED_PARTS = (
    "calibration:Calibration",
    "data.formats.fields:Fields",
    "data.text.encoding.hybrid_features:HybridFeatures",
    "data.text.excerpts:Excerpts",
    "data.text.features:TextFeatures",
    "data.text.sequences:WordSequences",
    "data.text.transformers:Transformer",
    "deep.history:History",
    "deep.loop:TrainingState",
    "encoders.linear:LinearEncoder",
    "encoders.network:NetworkEncoder",
    "encoders.partition:Partition",
    "encoders.unit_rows:UnitRows",
    "ensemble:Learner",
    "graph.tree:Tree",
    "labels:LabelEncoder",
    "manifold.smce:SMCE",
    "label_collections:LabelCollections",
    "model_vocabulary:ModelVocabulary",
    "partial_labels:PartialRows",
    "row_forest.forest:RowForest",
    "search.exact:ExactIndex",
    "search.ivf:IVFIndex",
    "search.sparse:SparseIndex",
    "search.tree_beam:DenseTreeIndex",
    "search.tree_beam:TreeIndex",
    "sharding.ranker:ShardedRanker",
    "tagger:Tagger",
    "tuning.blend:Blend",
    "tuning.mixture:Curve",
    "tuning.mixture:Mixture",
    "vocabulary:Strings",
    "vocabulary:Vocabulary",
)


def storable_name(kind: type) -> str | None:
    """Return the name by which a class is stored: its method's, or its own; None if it is not."""
    place = f"{kind.__module__.removeprefix('labelspace.')}:{kind.__qualname__}"
    return _NAMES.get(place)


def storable_class(name: str) -> Any:
    """Return the class that is stored by this name; KeyError if there is none."""
    module, _, class_name = _PLACES[name].partition(":")
    return getattr(importlib.import_module(f"labelspace.{module}"), class_name)


def method_name(kind: type) -> str:
    """Return a class's name as a method, or what it is called itself."""
    return storable_name(kind) or kind.__name__


def _places() -> dict[str, str]:
    places = {place.partition(":")[2]: place for place in SHARED_PARTS}
    for name, method in METHODS.items():
        places[name] = f"models.{method.path}"
        places |= {part.partition(":")[2]: f"models.{part}" for part in method.parts}
    return places


_PLACES = _places()
_NAMES = {place: name for name, place in _PLACES.items()}
