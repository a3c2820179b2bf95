"""Several ways of asking, sifted together: what holds in all of them is claimed, and no more."""

import hornlens
from tests.sifted_cases import case


def test_one_way_of_asking_claims_nothing_of_what_holds_in_it_alone(tmp_path):
    """`two` never says yes with b2, either; an answer of `one` is what breaks that."""
    result = case("worlds")
    result.save(tmp_path)
    for each in (result, hornlens.load(tmp_path)):
        assert not each.entails("b2 & yes -> false")
        one, two = each.worlds
        assert two.breaking(hornlens_rule(two, "b2", "yes")) == []
        for world in (one, two):
            assert [str(row) for row in world.rules] == [str(row) for row in each.rules]
            certificate = world.certificate
            assert "exception is on record" not in certificate.sentence
            assert "follows from" not in certificate.together
            assert "in this way of asking alone" in certificate.sentence
            assert certificate.meets("tested") and not certificate.meets("bounded")
        assert "an exception is on record" in each.certificate.sentence


def hornlens_rule(result, *names):
    from hornlens.logic.bits import BOTTOM
    from hornlens.logic.rule import Rule

    return Rule(result.space.vocabulary.mask(names), BOTTOM)


def test_verify_refuses_a_way_of_asking_that_claims_what_is_on_record_in_another():
    import json
    from pathlib import Path

    from hornlens.verifying.verify import verify_content

    content = json.loads(case("worlds").export("json"))
    assert verify_content(content, Path("envelope.json")).ok
    del content["variants"][1]["certificate"]["sift"]["alone"]
    assert "alone" in verify_content(content, Path("envelope.json")).wrong
