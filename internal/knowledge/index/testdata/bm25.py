"""Writes BM25 scores of random passages, for the tests of package index."""

import json
import random

import bm25s

random.seed(20)
vocabulary = [f"t{i}" for i in range(60)]
weights = [1 / (i + 1) for i in range(len(vocabulary))]
corpus = [random.choices(vocabulary, weights, k=random.randint(1, 40)) for _ in range(40)]
queries = [random.sample(vocabulary, random.randint(1, 6)) for _ in range(12)] + [["t0", "absent"]]

engine = bm25s.BM25(method="lucene", k1=0.9, b=0.4, dtype="float64")
engine.index(corpus, show_progress=False)
cases = []
for query in queries:
    known = [t for t in query if any(t in passage for passage in corpus)]
    scores = engine.get_scores(known).tolist()
    cases.append({"query": " ".join(query), "scores": [round(s, 12) for s in scores]})
print(json.dumps({"passages": [" ".join(p) for p in corpus], "queries": cases}, indent=0))
