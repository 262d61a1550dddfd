"""Compute the text scores of golden.json with the packages that define them.

    textmetrics.py check GOLDEN   recompute, and exit 1 where anything differs
    textmetrics.py write GOLDEN   recompute, and write the file anew

The file holds its own inputs: to add a case, write its name, hypothesis and
reference (or a word, or a text to split) into it and run write. Nothing is
downloaded: nltk gets an empty WordNet, and a sentence splitter that was never
trained.
"""

import json
import math
import re
import string
import sys
from collections import Counter
from importlib.metadata import version

from nltk.metrics.distance import edit_distance
from nltk.stem.porter import PorterStemmer
from nltk.tokenize.destructive import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktSentenceTokenizer
from nltk.translate.meteor_score import meteor_score
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import sentence_bleu
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

PACKAGES = ["sacrebleu", "rouge-score", "nltk", "regex"]
TOLERANCE = 1e-6

SENTENCES = PunktSentenceTokenizer()
WORDS = NLTKWordTokenizer()
ROUGE = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)


class EmptyWordNet:
    def synsets(self, word):
        return []


def treebank(text):
    """nltk.word_tokenize with an untrained sentence splitter."""
    return [word for sentence in SENTENCES.tokenize(text) for word in WORDS.tokenize(sentence)]


def words13a(text):
    return Tokenizer13a()(text.rstrip()).split()


def meteor(hypothesis, reference):
    return meteor_score([treebank(reference)], treebank(hypothesis), wordnet=EmptyWordNet())


def squad_words(text):
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return re.sub(r"\b(?:a|an|the)\b", " ", text).split()


def squad_f1(hypothesis, reference):
    """The F1 of SQuAD 2.0, which is on no package index."""
    hyp, ref = squad_words(hypothesis), squad_words(reference)
    if not hyp or not ref:
        return float(hyp == ref)
    shared = sum((Counter(hyp) & Counter(ref)).values())
    if shared == 0:
        return 0.0
    precision, recall = shared / len(hyp), shared / len(ref)
    return 2 * precision * recall / (precision + recall)


def levenshtein(hypothesis, reference):
    longer = max(len(hypothesis), len(reference))
    return 1 - edit_distance(hypothesis, reference) / longer if longer else 1.0


def scores(hypothesis, reference):
    rouge = ROUGE.score(reference, hypothesis)
    return {
        "bleu": sentence_bleu(hypothesis, [reference]).score / 100,
        "rouge1": float(rouge["rouge1"].fmeasure),
        "rouge2": float(rouge["rouge2"].fmeasure),
        "rougeL": float(rouge["rougeL"].fmeasure),
        "meteor": meteor(hypothesis, reference),
        "f1": squad_f1(hypothesis, reference),
        "levenshtein": levenshtein(hypothesis, reference),
    }


def compute(golden):
    """The file with everything but its inputs computed."""
    stem = PorterStemmer().stem
    return {
        "packages": {name: version(name) for name in PACKAGES},
        "cases": [
            {
                "name": case["name"],
                "hypothesis": case["hypothesis"],
                "reference": case["reference"],
                "scores": scores(case["hypothesis"], case["reference"]),
            }
            for case in golden["cases"]
        ],
        "texts": [
            {
                "text": entry["text"],
                "words13a": words13a(entry["text"]),
                "treebank": treebank(entry["text"]),
            }
            for entry in golden["texts"]
        ],
        "stems": {word: stem(word) for word in golden["stems"]},
    }


def formatted(golden):
    """JSON with a line for each entry."""

    def line(value):
        return json.dumps(value, ensure_ascii=False)

    def lines(entries):
        return ",\n".join("  " + entry for entry in entries)

    parts = [f' "packages": {line(golden["packages"])}']
    for key in ("cases", "texts"):
        parts.append(f' "{key}": [\n{lines(map(line, golden[key]))}\n ]')
    stems = (f"{line(word)}: {line(stem)}" for word, stem in golden["stems"].items())
    parts.append(f' "stems": {{\n{lines(stems)}\n }}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def differences(have, want, where):
    """Yield a line for each place where two JSON values differ."""
    if isinstance(have, float) and isinstance(want, float):
        if not math.isclose(have, want, rel_tol=0, abs_tol=TOLERANCE):
            yield f"{where}: the file says {have}, the package {want}"
    elif isinstance(have, dict) and isinstance(want, dict) and have.keys() == want.keys():
        for key in have:
            yield from differences(have[key], want[key], f"{where}.{key}")
    elif isinstance(have, list) and isinstance(want, list) and len(have) == len(want):
        for i, (h, w) in enumerate(zip(have, want)):
            name = h.get("name", i) if isinstance(h, dict) else i
            yield from differences(h, w, f"{where}[{name}]")
    elif have != want:
        yield f"{where}: the file says {have!r}, the package {want!r}"


def main(arguments):
    if len(arguments) != 2 or arguments[0] not in ("check", "write"):
        print("usage: textmetrics.py check|write GOLDEN", file=sys.stderr)
        sys.exit(2)
    mode, path = arguments
    with open(path, encoding="utf-8") as file:
        have = json.load(file)
    want = compute(have)
    if mode == "write":
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(formatted(want))
        return
    found = list(differences(have, want, "golden"))
    for line in found:
        print(line, file=sys.stderr)
    if found:
        sys.exit(f"{path}: {len(found)} differences from {want['packages']}")
    print(f"{path}: {len(want['cases'])} cases, {len(want['texts'])} texts and "
          f"{len(want['stems'])} stems agree with {want['packages']}")


if __name__ == "__main__":
    main(sys.argv[1:])
