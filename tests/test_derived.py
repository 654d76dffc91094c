"""What is made of a value is kept while the value is, and no longer."""

from mcp_memory_server.derived import MOST_KEPT, Derived


class Fact:
    def __init__(self, text: str) -> None:
        self.text = text


class Maker:
    """Makes a line of a fact, and counts how often it was asked to."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self, fact: Fact) -> str:
        self.made += 1
        return f"- {fact.text}"


def test_it_is_made_once() -> None:
    maker, fact = Maker(), Fact("Anna drinks tea")
    line = Derived[Fact, str](maker)
    assert [line(fact), line(fact)] == ["- Anna drinks tea"] * 2
    assert maker.made == 1


def test_values_that_look_alike_are_told_apart() -> None:
    maker, facts = Maker(), (Fact("Anna drinks tea"), Fact("Anna drinks tea"))
    line = Derived[Fact, str](maker)
    assert line(facts[0]) == line(facts[1])
    assert maker.made == 2


def test_it_goes_with_the_value() -> None:
    fact = Fact("Anna drinks tea")
    line = Derived[Fact, str](Maker())
    line(fact)
    assert len(line) == 1
    del fact
    assert len(line) == 0


def test_a_value_at_the_address_of_one_that_is_gone_gets_its_own() -> None:
    line = Derived[Fact, str](Maker())
    for number in range(1_000):  # each is freed before the next is made, so addresses come again
        assert line(Fact(f"fact {number}")) == f"- fact {number}"


def test_of_too_many_the_oldest_are_dropped() -> None:
    maker, facts = Maker(), [Fact(str(number)) for number in range(MOST_KEPT + 10)]
    line = Derived[Fact, str](maker)
    for fact in facts:
        line(fact)
    assert len(line) == MOST_KEPT
    line(facts[-1])
    assert maker.made == len(facts)
    line(facts[0])
    assert maker.made == len(facts) + 1


def test_of_each_gives_what_one_call_after_another_gives() -> None:
    maker, facts = Maker(), [Fact("Anna drinks tea"), Fact("Ben drinks coffee")]
    line = Derived[Fact, str](maker)
    line(facts[1])
    assert line.of_each([*facts, facts[0]]) == ["- Anna drinks tea", "- Ben drinks coffee", "- Anna drinks tea"]
    assert maker.made == 2
    del facts
    assert len(line) == 0
