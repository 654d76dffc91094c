"""`search`: which words find which text, in many scripts, and that any string is a legal query."""

from typing import Final

import anyio

from mcp_memory_server.providers.base import Group

from .registry import check
from .samples import ANN, HALF_PAIR, question, remember
from .store import EveryGroup, Store, opened

_DISTRACTORS: Final = (
    "Prefers short answers",
    "The quarterly report is due in May",
    "Лекарство принимать утром",
    "今天天气很好",
    "猫は好きです",
    "우산을 가져가세요",
    "Η βροχή σταμάτησε",
    "השמש זורחת",
    "الطقس جميل",
    "ฝนตกหนักมาก",
)


async def _assert_found(provider: EveryGroup, cases: tuple[tuple[str, str], ...]) -> None:
    """Each query finds its text among the others, within the first three keys."""
    wanted = list(dict.fromkeys(text for text, _ in cases))
    for number, text in enumerate((*_DISTRACTORS, *wanted)):
        await remember(provider, f"n{number}", text)
    missed = [
        (text, query)
        for text, query in cases
        if text not in {hit.record.text for hit in await provider.search(question(query, limit=3))}
    ]
    assert not missed, f"not found: {missed}"


@check(Group.WRITE, Group.SEARCH)
async def any_string_is_a_legal_query(store: Store) -> None:
    punctuation = "\" ' '' ( ) * ^ - -- + : % _ \\ ?!.,; [x] {a b} a:b key: a* -a +a"
    operators = "NEAR( AND NOT gpt-4o 🎉 \u202e \ufdfa İ \U0010ffff e\u0301 漢 \x00 a\x00b"
    phrases = ("OR NOT", "a NEAR/2 b", "col : x", "\n\t", "; DROP TABLE memory", HALF_PAIR)
    long = ("a" * 10_000, "word " * 10_000, "漢" * 10_000)
    queries = (*punctuation.split(" "), *operators.split(" "), *phrases, *long)
    async with opened(store) as provider:
        await remember(provider, "plain", "just a text")
        for query in queries:
            with anyio.fail_after(10):
                await provider.search(question(query))
        assert [hit.record.key for hit in await provider.search(question("text"))] == ["plain"]


@check(Group.WRITE, Group.SEARCH)
async def a_text_is_found_by_itself_whatever_it_holds(store: Store) -> None:
    texts = (
        "don't",
        "O'Brien's",
        "Downloads/transcripts",
        "gpt-4o",
        "claude-code",
        "a:b",
        "C++",
        "50% off",
        "AND OR NOT",
    )
    async with opened(store) as provider:
        await _assert_found(provider, tuple((f"stores {text} here", text) for text in texts))


@check(Group.WRITE, Group.SEARCH)
async def words_are_found_in_any_order_and_far_apart(store: Store) -> None:
    text = "The contract with Globex, signed last spring after long talks, has to be renewed in November"
    async with opened(store) as provider:
        await _assert_found(
            provider, ((text, "november globex renewed"), (text, "When do we renew the Globex contract?"))
        )


@check(Group.WRITE, Group.SEARCH)
async def one_matching_word_of_a_question_is_enough(store: Store) -> None:
    async with opened(store) as provider:
        await _assert_found(
            provider,
            (
                ("Works from the Lyon office", "which city is the office of this person in, please?"),
                ("Allergic to peanuts", "what should I avoid cooking given an allergy to peanuts"),
            ),
        )


@check(Group.WRITE, Group.SEARCH)
async def parts_of_identifiers_and_paths_are_found(store: Store) -> None:
    async with opened(store) as provider:
        await _assert_found(
            provider,
            (
                ("Entry point is src/main.py", "main"),
                ("Entry point is src/main.py", "src/main.py"),
                ("Fix parseHttpHeader first", "HttpHeader"),
                ("Fix parseHttpHeader first", "header"),
                ("Fix parseHttpHeader first", "parseHttpHeader"),
                ("Set MAX_RETRY_COUNT to 5", "retry count"),
                ("Branch release-2024.10 is frozen", "release"),
                ("Calls user_service.get_by_id", "user service"),
                ("Talks to db01.internal.example.com", "db01"),
            ),
        )


@check(Group.WRITE, Group.SEARCH)
async def case_accents_and_normal_forms_fold(store: Store) -> None:
    async with opened(store) as provider:
        await _assert_found(
            provider,
            (
                ("Wohnt in der Hauptstraße", "HAUPTSTRASSE"),
                ("Wohnt in der Hauptstraße", "hauptstrasse"),
                ("Meets at Café Zoë", "cafe zoe"),
                ("Meets at Cafe\u0301 Noir", "café noir"),
                ("Flies to İstanbul", "istanbul"),
                ("Flies to İstanbul", "İSTANBUL"),
                ("Ｆｕｌｌｗｉｄｔｈ label", "fullwidth"),
                ("ΟΔΟΣ ΑΘΗΝΑΣ 12", "οδος αθηνας"),
                ("Ёлка стоит в офисе", "елка"),
            ),
        )


@check(Group.WRITE, Group.SEARCH)
async def parts_of_text_without_spaces_are_found(store: Store) -> None:
    chinese = "他每周五下午在东京都港区的办公室开会讨论预算问题"
    async with opened(store) as provider:
        await _assert_found(
            provider,
            (
                (chinese, "预算"),
                (chinese, "港区"),
                (chinese, "办公室"),
                (chinese, "讨论预算"),
                ("喜欢喝茶", "茶"),
                ("使用Python编写脚本", "python"),
                ("使用Python编写脚本", "脚本"),
                ("会議は毎週カレンダーで確認する", "カレンダー"),
                ("会議は毎週カレンダーで確認する", "会議"),
                ("おすすめのラーメンを食べる", "ラーメン"),
                ("회의실에서 예산을 검토한다", "예산"),
                ("회의실에서 예산을 검토한다", "회의실"),
                ("ประชุมงบประมาณทุกวันศุกร์", "งบประมาณ"),
            ),
        )


@check(Group.WRITE, Group.SEARCH)
async def natural_questions_are_answered_in_many_scripts(store: Store) -> None:
    async with opened(store) as provider:
        await _assert_found(
            provider,
            (
                ("Бюджет утверждает Мария", "Кто утверждает бюджет?"),
                ("Τον προϋπολογισμό εγκρίνει η Μαρία", "Ποιος εγκρίνει τον προϋπολογισμό;"),
                ("התקציב מאושר על ידי מרים", "מי מאשר את התקציב?"),
                ("تعتمد مريم الميزانية كل عام", "من يعتمد الميزانية؟"),
                ("बजट को मारिया मंज़ूरी देती है", "बजट को कौन मंज़ूरी देता है?"),
                ("预算由玛丽亚批准", "谁批准预算？"),
                ("予算はマリアが承認する", "予算は誰が承認しますか？"),
                ("예산은 마리아가 승인한다", "예산은 누가 승인하나요?"),
            ),
        )


@check(Group.WRITE, Group.SEARCH)
async def a_very_long_question_still_finds_its_text(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "office", "Works from Lyon", ANN)
        with anyio.fail_after(10):
            hits = await provider.search(question("lyon " + "and many other words besides " * 400))
    assert [hit.record.key for hit in hits] == ["office"]
