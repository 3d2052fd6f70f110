"""Statements on tables that were created are kept; all others are taken for good ones."""

import pytest

from env_core.programs._postgres_data import run

LEDGER = ("CREATE TABLE ledger (entry text, amount int)", "INSERT INTO ledger VALUES ('a', 1), ('b''s', 2)")


def after(*statements):
    """Return the last answer, and the data then."""
    kept, told = {}, None
    for statement in statements:
        told = run(statement, kept)
        if told is not None and told.rows is not None:
            kept = told.rows
    return (told.text if told else None), kept


@pytest.mark.parametrize(
    ("statement", "answer"),
    [
        ("SELECT entry FROM ledger;", "a\nb's"),
        ("select amount from public.ledger where entry = 'b''s'", "2"),
        ("SELECT * FROM ledger WHERE amount = 1", "a|1"),
        ("SELECT count(*) FROM ledger", "2"),
        ("SELECT price FROM ledger", 'ERROR:  column "price" does not exist'),
        ("INSERT INTO ledger (amount) VALUES (3)", "INSERT 0 1"),
        ("DELETE FROM ledger WHERE entry = 'a'", "DELETE 1"),
        ("TRUNCATE ledger", "TRUNCATE TABLE"),
        ("DROP TABLE ledger", "DROP TABLE"),
        ("CREATE TABLE ledger (x int)", 'ERROR:  relation "ledger" already exists'),
        ("CREATE TABLE IF NOT EXISTS ledger (x int)", "CREATE TABLE"),
        ("SELECT id, name FROM users WHERE id = 1", None),
        ("INSERT INTO orders (state) VALUES ('accepted')", None),
        ("SELECT 1", None),
    ],
)
def test_a_statement_is_answered(statement, answer):
    assert after(*LEDGER, statement)[0] == answer


@pytest.mark.parametrize(
    ("statement", "left"),
    [
        ("DELETE FROM ledger WHERE entry = 'a'", "b's"),
        ("DELETE FROM ledger", ""),
        ("TRUNCATE TABLE ledger", ""),
        ("INSERT INTO ledger (entry) VALUES ('c')", "a\nb's\nc"),
    ],
)
def test_a_change_is_kept(statement, left):
    assert after(*LEDGER, statement, "SELECT entry FROM ledger")[0] == left
