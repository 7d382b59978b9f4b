"""Links to results: none promises more than whoever signed it can keep."""

import json
from urllib.parse import parse_qs, urlparse

import boto3
import pytest

from coatcheck.aws import clients
from handlers import ports
from tests.coatcheck.cloud import REGION
from tests.handlers.events import body_of
from tests.handlers.test_status import finished, get, opened

pytestmark = pytest.mark.usefixtures("aws")


def become(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go on with the credentials of another session of the function's role."""
    session = boto3.Session(name, "of-no-account", "of-no-account", region_name=REGION)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", session)
    clients.s3.cache_clear()
    ports.objects.cache_clear()


def test_a_link_for_a_day_does_not_die_with_the_session_of_the_role_that_made_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    become("ASIATHEFIRST", monkeypatch)
    job_id = finished()
    shown = get(job_id, query={"redirect": "false"})
    assert "ASIATHEFIRST" not in json.dumps(shown)
    become("ASIATHENEXT", monkeypatch)  # the first session has ended, and with it whatever it had presigned
    answer = opened(body_of(shown)["result"]["url"].rpartition("/")[2])
    query = parse_qs(urlparse(answer["headers"]["Location"]).query)
    assert query["X-Amz-Credential"][0].startswith("ASIATHENEXT/")
    assert int(query["X-Amz-Expires"][0]) <= 300
    assert "no-store" in answer["headers"]["Cache-Control"]
