"""Recall by meaning: other words, names, twins, and the optional reranker."""

from pathlib import Path

from openclaw_memory.bank.embeddings.models import Models
from openclaw_memory.bank.embeddings.settings import EmbeddingSettings
from openclaw_memory.bank.static_space import static_embedder
from openclaw_memory.bank.workspace import Workspace
from openclaw_memory.recall.kindred import kindred

NOTES = {
    "memory/2026-10-01.md": "- The boiler was repaired by Rathje for 180 euros.\n- Painted the fence green.\n"
    "- The puppy sleeps in the hall.\n- Engine oil: 2.4 litres.\n",
    "memory/2026-10-02.md": "- Bought a season ticket for the museum.\n- The lawyer sent a letter.\n",
}


def test_other_words_find_the_line(make, ask):
    workspace = make(NOTES)
    for question, word in (
        ("How much lubricant fits into the motor?", "oil"),
        ("Where does our dog rest at night?", "puppy"),
        ("Did the attorney write?", "lawyer"),
    ):
        assert word in ask(workspace, question)["results"][0]["content"], question


def test_words_alone_where_no_provider_is_wanted(make, ask):
    workspace = make(NOTES)
    alone = Workspace(workspace.root, models=Models(EmbeddingSettings(provider="none")))
    answer = ask(alone, "Did the attorney write?")
    assert (answer["provider"], answer["results"]) == ("none", [])
    assert ask(alone, "lawyer")["results"][0]["content"] == "The lawyer sent a letter."


def test_another_language_lives_by_words(make, ask):
    """A sum over the pieces of German words found whatever came near by chance."""
    answer = ask(make(NOTES), "Was kostet die Wohnung?")
    assert answer["results"] == []


def test_a_reranker_that_fails_leaves_the_order(make, ask, tmp_path: Path):
    workspace = make(NOTES)
    question = "Which animal sleeps in the hall?"
    missing = EmbeddingSettings(rerank_model=str(tmp_path / "nowhere.gguf"))
    answer = ask(Workspace(workspace.root, models=Models(missing)), question)
    assert "the results are not reranked" in answer["warning"]
    assert [r["source"] for r in answer["results"]] == [r["source"] for r in ask(workspace, question)["results"]]


def test_kindred_words(make, ask):
    workspace = make(NOTES)
    ask(workspace, "x")
    from openclaw_memory.bank.index import open_to_read
    from openclaw_memory.recall.candidates import load

    connection = open_to_read(workspace)
    assert connection
    passages = load(connection, [row[0] for row in connection.execute("SELECT id FROM passages")])
    connection.close()
    embedder = static_embedder()
    assert embedder
    said = {p.text: kindred(embedder, "the attorney", {"the"}, passages).get(p.id, 0.0) for p in passages}
    assert max(said, key=lambda text: said[text]) == "The lawyer sent a letter."
    assert all(0 <= value <= 1 for value in said.values())
    itself = kindred(embedder, "lawyer", (), passages)
    assert abs(max(itself.values()) - 1) < 1e-9
    assert kindred(embedder, "", (), passages) == {}


def test_words_that_mean_something_are_not_taken_for_slips_of_each_other(make, ask):
    """The winner answered for the winter, as nobody had written of one."""
    workspace = make({"memory/a.md": "- The winner got a book.\n", "memory/b.md": "- It snowed until March.\n"})
    alone = Workspace(workspace.root, models=Models(EmbeddingSettings(provider="none")))
    question = "How cold was the winter?"
    (by_words,) = ask(alone, question)["results"]
    assert by_words["content"] == "The winner got a book."
    assert ask(workspace, question)["results"][0]["content"] == "It snowed until March."
    # A word that the model does not know may be a slip.
    assert ask(workspace, "What did the winnner get?")["results"][0]["content"] == "The winner got a book."


def test_words_that_stand_nowhere_are_said_otherwise(make, ask):
    workspace = make(NOTES)
    told = ask(workspace, "Did the attorney write?", explain=True)["results"][0]["signals"]
    assert told["reworded"]["value"] == told["kindred"]["value"]
    told = ask(workspace, "Did the lawyer send a letter?", explain=True)["results"][0]["signals"]
    assert "reworded" not in told
