"""Train and ask small models once, so that their kernels are compiled and kept."""

from labelspace import engine
from labelspace.data.samples.synthetic import SyntheticCorpus
from labelspace.models import AnnexML, LabelSpace, OneVsAll

train = SyntheticCorpus(600, n_features=300, n_labels=60).sample()
models = [
    LabelSpace(random_state=0),
    LabelSpace(random_state=0, settings={"exact": False}),
    OneVsAll(random_state=0),
    AnnexML(random_state=0, n_learners=1),
]
with engine.using("threads"):
    for model in models:
        model.fit(train.X, train.Y).predict_topk(train.X[:10])
