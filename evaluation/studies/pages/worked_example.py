"""An adjudicated case as a worked example of the guidelines, for raters."""

from annotation.guideline_entries import plain_as_markdown, quoted
from annotation.models import Study
from annotation.rated_units import shown_text
from annotation.schemes import Question, load_scheme
from evaluation.studies.disagreements.cases import Case
from evaluation.votes.judgements import UNDECIDABLE

LONGEST_RESPONSE = 2000  # characters, at most; a researcher can add the rest
LONGEST_EVIDENCE = 400  # each passage, and a graph
MOST_PASSAGES = 2


def worked_example(study: Study, question: Question, case: Case) -> str:
    """Return an adjudicated case as Markdown: what raters saw, the decision, and its reason.

    It says nothing of setups, scores, votes and people.

    Args:
        case: a case with a decision; the newest one is taken.
    """
    decision = case.decisions[0]
    answer, note = plain_as_markdown(decision.answer), plain_as_markdown(decision.note)
    is_decided = decision.answer != UNDECIDABLE
    decided = f"{answer[:1].upper()}{answer[1:]}." if is_decided else "This cannot be decided."
    parts = [f"### {question.key.replace('_', ' ').capitalize()}: {answer}"]
    for name, text, longest in _texts(study, case):
        shortened = _cut(text.strip(), longest)
        is_markdown = study.text_format == Study.TextFormat.MARKDOWN and name != "The user asks"
        shown = shortened if is_markdown else plain_as_markdown(shortened)
        parts += [f"**{name}**", quoted(shown)] if name else [quoted(shown)]
    parts.append(f"**{question.wording}** {decided} {note}")
    return "\n\n".join(parts)


def _texts(study: Study, case: Case) -> list[tuple[str, str, int]]:
    """Return the texts that raters saw: name ("" for more of the same), text, characters shown."""
    texts = [("The user asks", case.user_question, LONGEST_RESPONSE)] if case.user_question else []
    citation = case.target.citation
    if citation and citation.relation:
        fact = f"{citation.relation}: {citation.value}"
        return [
            *texts,
            ("Sentence", citation.sentence, LONGEST_RESPONSE),
            ("Cited fact", fact, LONGEST_RESPONSE),
        ]
    scheme = load_scheme(study.scheme)
    texts.append(("Response", shown_text(scheme, case.target.response), LONGEST_RESPONSE))
    if scheme.evidence != "none":
        evidence = [passage.text for passage in case.evidence[:MOST_PASSAGES]]
        evidence += [case.graph] if case.graph else []
        for number, text in enumerate(evidence):
            texts.append(("" if number else "Evidence", text, LONGEST_EVIDENCE))
    return texts


def _cut(text: str, longest: int) -> str:
    """Return a text, or as many whole words of it as `longest` characters have room for."""
    if len(text) <= longest:
        return text
    return f"{text[:longest].rsplit(maxsplit=1)[0]} …"
