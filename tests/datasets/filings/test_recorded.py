"""The packaged completions for the filings' questions: what they say is tested where the pages are at hand."""

from __future__ import annotations

from finexpert.language_models.recordings.recorded import packaged_files, read


def test_the_questions_of_dev_have_their_completions() -> None:
    (file,) = [file for file in packaged_files() if file.name == "filings_dev.jsonl"]
    kept = list(read(file))
    assert len(kept) == len({recording.prompt for recording in kept}) == 199
    assert {recording.model for recording in kept} == {"a frontier model through an OpenAI-compatible endpoint"}
