# SPDX-License-Identifier: Apache-2.0
"""How well speakers were told: DER from RTTM, cpWER from STM, word-level speaker errors from CTM.

usage: speaker_scores.py der REFERENCE.rttm FOUND.rttm [--collar 0.25]
       speaker_scores.py words REFERENCE.stm FOUND.stm
       speaker_scores.py attribution REFERENCE.ctm FOUND.ctm
       speaker_scores.py check

der: the share of the reference's speech, each speaker's counted, that was missed, invented or given to another one
(NIST's diarization error rate). Overlaps count; `collar` seconds around each boundary of the reference do not.
words: cpWER (concatenated minimum-permutation word error rate: each speaker's words in a row, the mapping of speakers
with the fewest errors) and, beside it, the word error rate of all words in the order of their segments.
attribution: of the words that were recognised (in an alignment with the fewest errors of all words, in the order of
their starts), how many were given to another speaker or to nobody.
Speakers are mapped one to one so that the sum is best (scipy.optimize.linear_sum_assignment).
`check` compares both with cases that were counted by hand.
"""
import argparse
import sys

import numpy as np
from scipy.optimize import linear_sum_assignment


def assignment(gain):
    """Rows to columns, one to one, with the largest sum of gain[row][column]: {row: column}."""
    if not gain or not gain[0]:
        return {}
    return dict(zip(*(n.tolist() for n in linear_sum_assignment(np.array(gain), maximize=True))))


def read_rttm(path):
    """{file: [(start, end, speaker)]} in milliseconds."""
    turns = {}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            fields = line.split()
            if not fields or fields[0] != "SPEAKER":
                continue
            if len(fields) < 8:
                raise ValueError(f"{path}, line {number}: expected a SPEAKER line of at least 8 fields")
            start = round(float(fields[3]) * 1000)
            turns.setdefault(fields[1], []).append((start, start + round(float(fields[4]) * 1000), fields[7]))
    return turns


def read_stm(path):
    """{file: [(start, speaker, words)]} in the order of starts."""
    said = {}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.startswith(";;") or not line.strip():
                continue
            fields = line.split(None, 5)
            if len(fields) < 5:
                raise ValueError(f"{path}, line {number}: expected file, channel, speaker, start, end and text")
            text = fields[5].split() if len(fields) > 5 else []
            said.setdefault(fields[0], []).append((float(fields[3]), fields[2], text))
    return {name: sorted(all_of, key=lambda s: s[0]) for name, all_of in said.items()}


def read_ctm(path):
    """{file: [(start, speaker, [word])]} in the order of starts; nobody is "" or "unknown"."""
    said = {}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.startswith(";;") or not line.strip():
                continue
            fields = line.split()
            if len(fields) < 5:
                raise ValueError(f"{path}, line {number}: expected file, channel, start, duration and word")
            said.setdefault(fields[0], []).append((float(fields[2]), fields[7] if len(fields) > 7 else "", [fields[4]]))
    return {name: sorted(all_of, key=lambda s: s[0]) for name, all_of in said.items()}


def der(reference, found, collar=0.25):
    """(errors, speech) of one file, in milliseconds of speakers."""
    forgiven = round(collar * 1000)
    edges = sorted({t for start, end, _ in reference for t in (start, end)})
    cuts = sorted({t for start, end, _ in reference + found for t in (start, end)} |
                  {t + d for t in edges for d in (-forgiven, forgiven)})
    names, others = (sorted({who for _, _, who in turns}) for turns in (reference, found))
    together = [[0] * len(others) for _ in names]
    pieces = []
    for a, b in zip(cuts, cuts[1:]):
        if any(t - forgiven <= a and b <= t + forgiven for t in edges):
            continue
        here, there = ({who for start, end, who in turns if start <= a and b <= end} for turns in (reference, found))
        pieces.append((b - a, here, there))
        for who in here:
            for other in there:
                together[names.index(who)][others.index(other)] += b - a
    mapped = {others[c]: names[r] for r, c in assignment(together).items()} if names and others else {}
    errors = speech = 0
    for length, here, there in pieces:
        right = len(here & {mapped.get(other) for other in there})
        errors += length * (max(len(here), len(there)) - right)
        speech += length * len(here)
    return errors, speech


def edits(want, got):
    """Words that were left out, put in or replaced."""
    row = list(range(len(got) + 1))
    for i, w in enumerate(want, 1):
        before, row[0] = row[0], i
        for j, g in enumerate(got, 1):
            before, row[j] = row[j], min(before + (w != g), row[j] + 1, row[j - 1] + 1)
    return row[-1]


def paired(want, got):
    """Pairs of indices of equal words, in the alignment with the fewest errors and among these with the most pairs."""
    error = len(want) + len(got) + 1  # costs more than all pairs save
    table = [[error * j for j in range(len(got) + 1)]]
    for i, w in enumerate(want, 1):
        above, row = table[-1], [error * i]
        for j, g in enumerate(got, 1):
            row.append(min(above[j - 1] + (-1 if w == g else error), above[j] + error, row[-1] + error))
        table.append(row)
    pairs, i, j = [], len(want), len(got)
    while i and j:
        if table[i][j] == table[i - 1][j - 1] + (-1 if want[i - 1] == got[j - 1] else error):
            i, j = i - 1, j - 1
            if want[i] == got[j]:
                pairs.append((i, j))
        elif table[i][j] == table[i - 1][j] + error:
            i -= 1
        else:
            j -= 1
    return pairs[::-1]


def attribution(reference, found, nobody=("", "unknown")):
    """(words given to another speaker or to nobody, words recognised) of one file; nobody: names of no speaker."""
    want, got = ([(who, w) for _, who, text in said for w in text] for said in (reference, found))
    pairs = [(want[i][0], got[j][0]) for i, j in paired([w for _, w in want], [w for _, w in got])]
    names, others = (sorted({p[k] for p in pairs} - set(nobody)) for k in (0, 1))
    together = [[sum(p == (name, other) for p in pairs) for other in others] for name in names]
    right = sum(together[r][c] for r, c in assignment(together).items())
    return len(pairs) - right, len(pairs)


def word_errors(reference, found):
    """(errors with speakers, errors without, words) of one file."""
    def by_speaker(said):
        words = {}
        for _, who, text in said:
            words.setdefault(who, []).extend(text)
        return [words[who] for who in sorted(words)]

    want, got = by_speaker(reference), by_speaker(found)
    count = sum(len(words) for words in want)
    # What a pair saves beside leaving out the one and putting in the other.
    saved = [[len(w) + len(g) - edits(w, g) for g in got] for w in want]
    pairs = assignment(saved) if want and got else {}
    errors = count + sum(len(words) for words in got) - sum(saved[r][c] for r, c in pairs.items())
    plain = edits([w for _, _, text in reference for w in text], [w for _, _, text in found for w in text])
    return errors, plain, count


def check():
    a, b = (0, 10000, "A"), (10000, 20000, "B")
    cases = [
        ([a, b], [(0, 10000, "x"), (10000, 20000, "y")], 0, (0, 20000)),
        ([a, b], [(0, 10000, "y"), (10000, 20000, "x")], 0, (0, 20000)),                   # names do not count
        ([a, b], [(0, 20000, "x")], 0, (10000, 20000)),                                    # confused
        ([a, b], [(0, 9000, "x"), (10000, 20000, "y")], 0, (1000, 20000)),                 # missed
        ([a, b], [(0, 10000, "x"), (10000, 21000, "y")], 0, (1000, 20000)),                # invented
        ([a, b], [(0, 10200, "x"), (10200, 20000, "y")], 0, (200, 20000)),
        ([a, b], [(0, 10200, "x"), (10200, 20000, "y")], 0.25, (0, 19000)),                # within the collar
        ([a, (5000, 15000, "B")], [(0, 10000, "x")], 0, (10000, 20000)),                   # an overlap, one told
        ([a, (5000, 15000, "B")], [(0, 10000, "x"), (5000, 15000, "y")], 0, (0, 20000)),
        ([a], [], 0, (10000, 10000)),
        ([], [a], 0, (10000, 0)),
    ]
    for reference, found, collar, want in cases:
        got = der(list(reference), list(found), collar)
        assert got == want, (reference, found, collar, got, want)
    s = lambda *turns: [(float(i), who, text.split()) for i, (who, text) in enumerate(turns)]
    texts = [
        (s(("A", "a b c"), ("B", "d e")), s(("1", "a b c"), ("2", "d e")), (0, 0, 5)),
        (s(("A", "a b c"), ("B", "d e")), s(("2", "a b c"), ("1", "d e")), (0, 0, 5)),
        (s(("A", "a b c"), ("B", "d e")), s(("1", "a b c d e")), (4, 0, 5)),               # two put in, two left out
        (s(("A", "a b c"), ("B", "d e")), s(("1", "a b"), ("2", "c d e")), (2, 0, 5)),     # a word of another
        (s(("A", "a b c"), ("B", "d e")), s(("1", "a x c"), ("2", "d")), (2, 2, 5)),
        (s(("A", "a b c")), s(), (3, 3, 3)),
        (s(), s(("1", "a")), (1, 1, 0)),
    ]
    for reference, found, want in texts:
        got = word_errors(reference, found)
        assert got == want, (reference, found, got, want)
    given = [
        (s(("A", "a b c"), ("B", "d e")), s(("1", "a b c"), ("2", "d e")), (0, 5)),
        (s(("A", "a b c"), ("B", "d e")), s(("2", "a b"), ("1", "c d e")), (1, 5)),        # a word of another
        (s(("A", "a b c"), ("B", "d e")), s(("1", "a b"), ("", "c"), ("2", "d e")), (1, 5)),  # of nobody
        (s(("A", "a b c"), ("B", "d e")), s(("1", "a x c"), ("2", "y d")), (0, 3)),        # x, y and e do not count
        (s(("A", "a b c"), ("B", "d e")), s(("1", "a b c d e")), (2, 5)),                  # one of two was found
        (s(("A", "a a b"), ("B", "b a")), s(("1", "a b"), ("2", "b a")), (0, 4)),
        (s(("A", "a")), s(), (0, 0)),
    ]
    for reference, found, want in given:
        got = attribution(reference, found)
        assert got == want, (reference, found, got, want)
    assert assignment([[3, 2], [3, 0]]) == {0: 1, 1: 0}
    assert assignment([[1, 5, 2]]) == {0: 1} and assignment([[1], [5], [2]]) == {1: 0}
    print(len(cases) + len(texts) + len(given) + 3, "cases as counted by hand")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["der", "words", "attribution", "check"])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--collar", type=float, default=0.25)
    o = parser.parse_args()
    if o.what == "check":
        return check()
    if len(o.files) != 2:
        parser.error("a reference and what was found are needed")
    read = {"der": read_rttm, "words": read_stm, "attribution": read_ctm}[o.what]
    reference, found = (read(path) for path in o.files)
    if missing := sorted(set(found) - set(reference)):
        sys.exit(f"{o.files[1]}: {missing[0]} is not in {o.files[0]}")
    if o.what == "der":
        errors, speech = (sum(n) for n in zip(*(der(reference[f], found.get(f, []), o.collar) for f in reference)))
        print(f"DER {100 * errors / max(speech, 1):.2f} % of {speech / 1000:.1f} s, collar {o.collar} s")
    elif o.what == "attribution":
        wrong, count = (sum(n) for n in zip(*(attribution(reference[f], found.get(f, [])) for f in reference)))
        print(f"{100 * wrong / max(count, 1):.2f} % of {count} recognised words with a wrong speaker")
    else:
        errors, plain, count = (sum(n) for n in zip(*(word_errors(reference[f], found.get(f, [])) for f in reference)))
        print(f"cpWER {100 * errors / max(count, 1):.2f} %, WER {100 * plain / max(count, 1):.2f} % of {count} words")
    return None


if __name__ == "__main__":
    main()
