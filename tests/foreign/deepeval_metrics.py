"""Metrics for deepeval that ask no language model, for `write_deepeval.py`."""

from deepeval.metrics import BaseConversationalMetric, BaseMetric


class Scores:
    threshold = 0.5

    def measure(self, case):
        self.score, self.reason = self.judge(case)
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, case):
        return self.measure(case)

    def is_successful(self):
        return self.success


class SharedWords(Scores, BaseMetric):
    __name__ = "Shared Words"

    def judge(self, case):
        expected = set(case.expected_output.lower().split())
        shared = expected.intersection(case.actual_output.lower().split())
        return len(shared) / len(expected), f"{len(shared)} of {len(expected)} words"


class Retrieved(Scores, BaseMetric):
    """Fails where nothing was retrieved, so that the run has an error; gives no reason."""

    __name__ = "Retrieved"

    def judge(self, case):
        if not case.retrieval_context:
            raise ValueError("nothing was retrieved")
        return 1, None


class Turns(Scores, BaseConversationalMetric):
    __name__ = "Turns"
    threshold = 4

    def judge(self, case):
        return len(case.turns), f"{len(case.turns)} turns"
