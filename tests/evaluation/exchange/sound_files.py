"""Sound files of every format that is imported, as trees: of them bombs and mutations are made."""

from typing import Any, NamedTuple

NUMBER = "@"  # stands in a text for the number of the copy, where parts are copied


class Sound(NamedTuple):
    """A sound file of one format: a JSON tree, JSON rows, rows of a table, or lines."""

    name: str
    content: Any
    kind: str  # json, jsonl, csv, tsv, nt (lines)


TURNS = [{"speaker": "user", "text": "Why @?"}]
EVIDENCE = [{"id": "p@", "text": "Because @.", "golden": True}]
SETUP = {"model": "m@", "temperature": 0.5, "prompt": "golden", "top_p": [1, {"a": "b"}]}
PARAMETERS = {
    "filters": {"on": [], "max_evidence_tokens": 9, "tokenizer": "words", "exact_match": "keep"},
    "part": "all",
    "size": None,
    "seed": 1,
    "split_seed": 1,
}
INTERCHANGE: dict[str, dict[str, Any]] = {
    "examples": {
        "id": "e@",
        "turns": TURNS,
        "golden_answer": "So.",
        "evidence": EVIDENCE,
        "meta": {"notes": ["n@"]},
    },
    "passages": {"id": "p@", "text": "Because.", "title": "T", "url": "u"},
    "responses": {
        "id": "r@",
        "example": "e@",
        "setup": SETUP,
        "text": "So.",
        "evidence_shown": ["p@"],
        "graph_shown": [["Q@", "is", "v"]],
        "meta": {"a": "b"},
    },
    "votes": {"response": "r@", "rater": "anna@", "question": "good", "answer": "yes"},
    "scores": {"response": "r@", "metric": "m@", "score": 0.5, "details": {"a": ["b"]}},
    "flags": {"response": "r@", "rater": "anna@", "reason": "empty"},
    "adjudications": {
        "response": "r@",
        "question": "good",
        "answer": "yes",
        "note": "Seen.",
        "by": "R-@",
        "at": "2026-03-01T10:00:00+00:00",
    },
    "raters": {"rater": "anna@", "excluded": False, "gold_score": 0.5},
    "entities": {
        "qid": "Q@",
        "label": "L",
        "type": "t",
        "aliases": ["a@"],
        "text": "d",
        "triples": [{"relation": "r@", "value": "v", "value_qid": "Q@"}],
    },
    "kg_questions": {
        "id": "k@",
        "question": "Who?",
        "entities": ["Q@"],
        "retrieved": ["Q@"],
        "minimum": [["Q@", "r", "v", 1]],
    },
    "rankings": {"ranking": "m@", "example": "e@", "passage": "p-e@", "rank": 1},
    "samples": {
        "name": "s@",
        "parameters": PARAMETERS,
        "members": [{"example": "e@", "verdict": "drop", "reason": "no"}],
    },
}
LINEAR = {
    "number": "@",
    "raw_utterance": "Why?",
    "passage": "So.",
    "canonical_result_id": "d",
    "passage_id": 1,
}
TREE = [
    {"number": "1@", "participant": "User", "utterance": "Why?"},
    {
        "number": "2@",
        "parent": "1@",
        "participant": "System",
        "response": "So.",
        "provenance": ["d@"],
    },
]
RATING = {"timestamp": 1727777347.0, "duration": 14.0, "value": 4}
MTRAG = {
    "metrics": [{"name": "faithfulness", "description": "d", "values": [{"value": "1"}]}],
    "documents": [{"document_id": "d@", "title": "T", "text": "Open."}],
    "tasks": [
        {
            "task_id": "c@",
            "input": [{"speaker": "user", "text": "Hi"}],
            "contexts": [{"document_id": "d@"}],
            "targets": [{"text": "Yes."}],
            "Collection": "law",
        }
    ],
    "evaluations": [
        {
            "task_id": "c@",
            "model_id": "gpt",
            "model_response": "You may.",
            "annotations": {"faithfulness": {"11": RATING}, "rl_f": {"composite": {"value": 1}}},
        }
    ],
}
QRECC = {
    "Context": ["Who @?", "Ada."],
    "Question": "When?",
    "Rewrite": "When was Ada born?",
    "Answer": "1815",
    "Answer_URL": "https://a.example/@",
    "Conversation_no": 1,
    "Turn_no": 2,
    "Conversation_source": "trec",
}
AIS = {
    "ex-idx": "e@",
    "doc-url": "u",
    "doc-url-hash": "h",
    "model-name": "m",
    "output": "So.",
    "INT": "1",
    "INT & AIS": "1",
    "Flagged": "0",
    "Q1": "Yes",
    "Q2": "Yes",
    "# agree (INT)": "5",
    "# agree (AIS)": "4",
}
BEGIN = {
    "model_name": "m",
    "data_source": "s",
    "knowledge": "k@",
    "message": "Hi @",
    "response": "So.",
    "begin_label": "Generic",
}
TABLE = {
    "question": "Who @?",
    "contexts": ["k@", {"text": "t", "title": "x"}],
    "reference_contexts": "g@",
    "answer": "So.",
    "model": "m",
    "session_id": "d@",
    "ground_truth": "y",
    "cost": "3",
}
SCORES = [{"name": "m@", "score": 0.5}, {"name": "n", "error": "none"}]
DEEPEVAL = {
    "testCases": [{"input": "Who @?", "actualOutput": "So.", "metricsData": SCORES}],
    "conversationalTestCases": [
        {"turns": [{"role": "user", "content": "Hi @"}, {"role": "assistant", "content": "So."}]}
    ],
    "metricsScores": [],
    "identifier": "m",
}
PROMPTFOO = {
    "results": {
        "results": [
            {
                "testIdx": 1,
                "promptIdx": 0,
                "vars": {"question": "Who @?", "context": "k@"},
                "provider": {"id": "m", "label": "l"},
                "prompt": {"raw": "Who?", "label": "p@"},
                "response": {"output": "So."},
                "namedScores": {"a@": 1},
                "score": 0.5,
            }
        ]
    }
}
LABEL_STUDIO = {
    "id": 1,
    "data": {"question": "Who @?", "answer": "So.", "t": "u"},
    "annotations": [
        {
            "completed_by": {"email": "a@"},
            "result": [{"from_name": "good", "value": {"choices": ["yes"]}}],
            "lead_time": 2.5,
            "created_at": "2026-05-03T10:00:00Z",
            "ground_truth": True,
        }
    ],
    "predictions": [
        {
            "model_version": "j",
            "score": 0.5,
            "result": [{"from_name": "n", "value": {"rating": 4}}],
        }
    ],
}
WICE = {
    "claim": "So.",
    "evidence": ["a@", "b"],
    "supporting_sentences": [[0, 1]],
    "label": "supported",
    "meta": {"id": "i@", "claim_title": "t"},
}
QAGS = {
    "article": "Long @.",
    "summary_sentences": [{"sentence": "So.", "responses": [{"worker_id": 1, "response": "yes"}]}],
}
FED = {
    "context": "User: Hi @",
    "response": "System: So.",
    "system": "m",
    "annotations": {"Fluent": [1, 2, "N/A (x)"]},
}
INFOTABS = {
    "table_id": "T@",
    "hypothesis": "So @.",
    "first_human_label": "0",
    "other_human_labels": [0, 2],
    "other_worker_id": "['VW@', 'VW2']",
}
LANGFUSE = {
    "id": "g@",
    "trace_id": "t@",
    "type": "GENERATION",
    "start_time": "2026-10-22 13:46:19.963000",
    "session_id": "s@",
    "provided_model_name": "m",
    "input": {"messages": [{"role": "user", "content": "Who @?"}], "tools": ["a"]},
    "output": {"role": "assistant", "content": [{"type": "text", "text": "So."}]},
}
LISTS = {
    "question": "{'role': 'user', 'content': 'Who @?'}",
    "contexts": "[{'text': 'k@', 'n': nan} {'page_content': 'It\\'s'}]",
    "reference_contexts": "array(['a@', Document(page_content='b', n={'n': 1})], dtype=object)",
    "answer": "[{'type': 'text', 'text': 'So @.'}]",
    "history": "[HumanMessage(content='Hi @'), AIMessage(content='So.')]",
}
LOG = {
    "request": {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Open @."},
            {"role": "user", "content": [{"type": "text", "text": "Who @?"}, {"type": "image"}]},
        ],
    },
    "response": {"choices": [{"message": {"role": "assistant", "content": "So."}}], "id": "r@"},
}
GEMINI = {
    "messages": [
        {"role": "user", "parts": [{"text": "Who @?"}, {"inlineData": {"data": "x"}}]},
        {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "So."}]},
    ]
}
VIEWED = {
    "features": [{"name": "question"}],
    "rows": [
        {
            "row_idx": 0,
            "row": {"question": {"text": "Who @?"}, "answer": 42, "contexts": ["k@"]},
            "truncated_cells": ["contexts"],
        }
    ],
}
MESSAGES = {"user_input": [{"role": "user", "content": "Who @?"}], "response": "So."}
TRIPLES = {
    "qid": "Q@",
    "relation": "r@",
    "value": "v@",
    "label": "L@",
    "type": "t",
    "aliases": "a|b",
    "value_qid": "Q@",
}
SPLIT = {"columns": ["question", "answer"], "index": ["r@"], "data": [["Who @?", "So."]]}
COLUMNS = {"question": {"r0": "Who @?", "r1": "Why?"}, "answer": {"r0": "So.", "r1": "Yes."}}
SNAKE = {"input": "Who @?", "actual_output": "So.", "metrics_data": [{"name": "m@", "score": 1}]}
DOCCANO = {"id": 1, "text": "So.", "question": "Who @?", "label": ["yes", "a@"], "Comments": ["c"]}
DOCCANO_TABLE = {"id": "@", "text": "So.", "question": "Who?", "label": "no#a", "Comments": ""}
POTATO = {
    "user_id": "anna@",
    "instance_id": "q@",
    "displayed_text": "So.",
    "label_annotations": {"ok": {"no": "ok:::no"}, "fluent": {"scale_5": "5"}, "r": {"t": "2"}},
    "span_annotations": {},
    "behavioral_data": {"time_string": "Time spent: 0d 0h 0m 12s "},
}
POTATO_TABLE = {
    "user": "anna@",
    "instance_id": "q@",
    "displayed_text": "So.",
    "ok:::yes": "ok:::yes",
    "ok:::no": "",
    "fluent:::scale_4": "4",
}
APPEN = {
    "id": 1,
    "data": {"question": "Who @?", "answer": "So."},
    "results": {
        "judgments": [
            {
                "id": 2,
                "worker_id": 3,
                "started_at": "2026-05-03T10:00:00+00:00",
                "created_at": "2026-05-03T10:01:00+00:00",
                "data": {"ok": "yes", "kinds": ["a@", "b"]},
            }
        ],
        "ok": {"agg": "yes", "confidence": 1.0},
    },
}
MTURK = {
    "HITId": "3A@",
    "AssignmentId": "3X@",
    "WorkerId": "A@",
    "WorkTimeInSeconds": "12",
    "Input.question": "Who @?",
    "Input.answer": "So.",
    "Answer.taskAnswers": '[{"ok":{"yes":true,"no":false},"fluent":4,"note":"n@"}]',
}
RATINGS = {
    "question": "Who @?",
    "answer": "So.",
    "ratings": [{"rater": "anna@", "score": 4}, {"rater": "ben", "score": 2}],
}
BESIDE = {"question": "Who @?", "answer": "So.", "raters": ["anna@", "ben"], "scores": [4, 2]}
BY_RATER = {"question": "Who @?", "answer": "So.", "votes": "{'anna@': 'yes', 'ben': 'no'}"}
FORM = {
    "Timestamp": "2026/05/03 10:00:00 AM GMT",
    "Username": "a@b.example",
    "Is this answer right? [Who @?]": "Yes",
    "Is this answer right? [Why?]": "No",
}
EX = "http://e.example/"
NT = [
    f'<{EX}s@> <{EX}p@> "v@" .',
    f"<{EX}s@> <{EX}p> <{EX}o@> .",
    f'<{EX}s@> <http://www.w3.org/2000/01/rdf-schema#label> "n@"@en .',
    f"<{EX}p@> <http://wikiba.se/ontology#directClaim> <{EX}d@> .",
    f"<{EX}p@> <http://wikiba.se/ontology#propertyType> <http://wikiba.se/ontology#ExternalId> .",
]
RUN = ["e@ Q0 p-e@ 1 2.5 m", "e1 Q0 p-e@ 2 1.5 m@", "e@ Q0 p@ 3 0.5 m"]
_QRECC = Sound("qrecc.json", [QRECC], "json")
SOUND: dict[str, list[Sound]] = {
    "interchange": [
        *(Sound(f"{kind}.jsonl", [row], "jsonl") for kind, row in INTERCHANGE.items()),
        *(Sound(f"{kind}.csv", [row], "csv") for kind, row in INTERCHANGE.items()),
    ],
    "table": [
        Sound("answers.csv", [TABLE], "csv"),
        Sound("answers.jsonl", [TABLE], "jsonl"),
        Sound("messages.jsonl", [MESSAGES], "jsonl"),
        Sound("lists.csv", [LISTS], "csv"),
        Sound("log.jsonl", [LOG], "jsonl"),
        Sound("log.json", LOG, "json"),
        Sound("gemini.json", GEMINI, "json"),
        Sound("viewed.json", VIEWED, "json"),
        Sound("deepeval.json", DEEPEVAL, "json"),
        Sound("promptfoo.json", PROMPTFOO, "json"),
        Sound("label_studio.json", [LABEL_STUDIO], "json"),
        Sound("wice.jsonl", [WICE], "jsonl"),
        Sound("qags.jsonl", [QAGS], "jsonl"),
        Sound("fed.json", [FED], "json"),
        Sound("infotabs.tsv", [INFOTABS], "tsv"),
        Sound("langfuse.jsonl", [LANGFUSE], "jsonl"),
        Sound("split.json", SPLIT, "json"),
        Sound("columns.json", COLUMNS, "json"),
        Sound("index.json", {"r@": {"question": "Who?", "answer": "So."}}, "json"),
        Sound("values.json", [["Who @?", "So."]], "json"),
        Sound("cases.json", {"test_cases": [SNAKE]}, "json"),
        Sound("doccano.jsonl", [DOCCANO], "jsonl"),
        Sound("doccano.csv", [DOCCANO_TABLE], "csv"),
        Sound("potato.jsonl", [POTATO], "jsonl"),
        Sound("potato.csv", [POTATO_TABLE], "csv"),
        Sound("appen.jsonl", [APPEN], "jsonl"),
        Sound("mturk.csv", [MTURK], "csv"),
        Sound("ratings.jsonl", [RATINGS], "jsonl"),
        Sound("ratings.csv", [RATINGS], "csv"),
        Sound("beside.jsonl", [BESIDE], "jsonl"),
        Sound("votes.csv", [BY_RATER], "csv"),
        Sound("form.csv", [FORM], "csv"),
    ],
    "mtrag": [Sound("mtrag.json", MTRAG, "json")],
    "ais": [Sound("ais.csv", [AIS], "csv")],
    "begin": [Sound("begin.tsv", [BEGIN], "tsv")],
    "treccast": [
        Sound("topics.json", [{"number": "@", "turn": [LINEAR]}], "json"),
        Sound("topics.json", [{"number": "@", "turn": TREE}], "json"),
    ],
    "biokalma": [
        Sound("questions.json", [["Why @?", [{"qid": "Q@", "name": "n", "is": "v"}]]], "json")
    ],
    "ntriples": [Sound("graph.nt", NT, "nt")],
    "trec-run": [Sound("dense.run", RUN, "nt")],
    "triples": [Sound("graph.csv", [TRIPLES], "csv"), Sound("graph.tsv", [TRIPLES], "csv")],
    "qrecc": [_QRECC],
    "qrecc-as-asked": [_QRECC],
}
