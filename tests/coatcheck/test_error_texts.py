"""What an error means is decided by its class, code and attributes: texts change, and in capitals first."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import coatcheck

FUNCTIONS = Path(coatcheck.__path__[0]).parent
DECIDING = (ast.Compare, ast.Match)
SEARCHES = {"startswith", "endswith", "find", "index", "count", "search", "match", "fullmatch"}


def decisions_by_text(source: str) -> Iterator[str]:
    """Comparisons and searches of the text of an error that was caught, or of a service's message."""
    for handler in ast.walk(ast.parse(source)):
        if isinstance(handler, ast.ExceptHandler) and handler.name is not None:
            for node in ast.walk(handler):
                if _decides(node) and any(_is_text(part, handler.name) for part in ast.walk(node)):
                    yield ast.unparse(node)


def _decides(node: ast.AST) -> bool:
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SEARCHES
    return called or isinstance(node, DECIDING)


def _is_text(node: ast.AST, error: str) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="str" | "repr"), args=[ast.Name(id=name)]):
            return name == error
        case ast.Attribute(value=ast.Name(id=name), attr="args"):
            return name == error
        case ast.Constant(value="Message" | "message"):
            return True
    return False


@pytest.mark.parametrize(
    "decision",
    [
        '"expired" in str(error)',
        'str(error) == "gone"',
        'str(error).lower().startswith("the receipt")',
        'error.args[0] == "gone"',
        'error.response["Error"]["Message"].endswith("in flight")',
        're.search("superseded", str(error))',
    ],
)
def test_a_decision_by_the_text_of_an_error_is_found(decision: str) -> None:
    source = f"try:\n    work()\nexcept Exception as error:\n    if {decision}:\n        raise\n"
    assert list(decisions_by_text(source)) != []


def test_nothing_in_the_functions_is_decided_by_the_text_of_an_error() -> None:
    sources = {file: file.read_text() for file in FUNCTIONS.rglob("*.py")}
    assert len(sources) > 50
    assert {str(file): found for file, text in sources.items() if (found := list(decisions_by_text(text)))} == {}
