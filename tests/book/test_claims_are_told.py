"""Every claim of a stage that has a chapter is told there, under an anchor of the claim's own name."""

from __future__ import annotations

import pytest
import yaml

from tests.conftest import ROOT

CHAPTERS = {
    "authn": "book/apiserver/authentication.md",
    "authz": "book/apiserver/authorization.md",
    "admission": "book/apiserver/admission.md",
    "informers": "book/control-loops/informers.md",
    "deployment-controller": "book/control-loops/deployments.md",
    "replicaset-controller": "book/control-loops/replica-sets-and-ownership.md",
    "garbage-collection": "book/control-loops/replica-sets-and-ownership.md",
}
CLAIMS = yaml.load((ROOT / "book" / "claims.yaml").read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@pytest.mark.parametrize("stage", CHAPTERS)
def test_each_claim_has_its_paragraph(stage: str) -> None:
    text = (ROOT / CHAPTERS[stage]).read_text()
    claims = [claim["id"] for claim in CLAIMS if claim["stage"] == stage]
    assert claims
    assert [claim for claim in claims if text.count(f"]{{#{claim}}}") != 1] == []
