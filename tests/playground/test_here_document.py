"""Lines that a command brings along."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.playground.here_document import split_here_document

BODIES = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",))).filter(lambda text: "EOF" not in text)


@given(BODIES)
def test_a_document_is_read_as_it_was_typed(body: str) -> None:
    assert split_here_document(f"kubectl apply -f - <<'EOF'\n{body}\nEOF") == ("kubectl apply -f -", body + "\n")


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("kubectl get pods", ("kubectl get pods", None)),
        ("kubectl patch x -p 'a:\n  b'", ("kubectl patch x -p 'a:\n  b'", None)),
        ("cat <<EOF\nEOF", ("cat", "")),
        ('cat > a.yaml << "END"\na: b\nEND\n\n', ("cat > a.yaml", "a: b\n")),
        ("cat <<-EOF\n\ta\n\tEOF", ("cat", "a\n")),
    ],
)
def test_a_command_and_what_it_reads(text: str, split: tuple[str, str | None]) -> None:
    assert split_here_document(text) == split


@pytest.mark.parametrize(
    ("text", "said"), [("cat <<EOF\na: b", "no line says EOF"), ("cat <<EOF\nEOF\nls", "one command at a time")]
)
def test_what_is_no_document_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        split_here_document(text)
