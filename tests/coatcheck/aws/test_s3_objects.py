"""The results bucket: links, and refusals by their codes."""

from typing import Any
from urllib.parse import parse_qs, unquote, urlparse

import boto3
import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.config import Config
from moto.core.botocore_stubber import MockRawResponse

from coatcheck.aws import clients
from coatcheck.aws.s3_objects import S3Objects
from coatcheck.objects import ObjectExists, PartLost, UploadGone
from coatcheck.store import Unavailable
from tests.coatcheck.cloud import BUCKET, REGION, Cloud, Mishaps, through


class S3Mishaps(Mishaps):
    """S3 answers in XML."""

    def trouble(self, request: AWSPreparedRequest, status: int, body: dict[str, Any]) -> AWSResponse:
        text = f"<Error><Code>{body['Code']}</Code><Message>OTHER words</Message></Error>"
        headers: Any = {"content-type": "application/xml"}
        raw: Any = MockRawResponse(text)
        return AWSResponse(request.url, status, headers, raw)


def objects_with(status: int, code: str) -> S3Objects:
    once = Config(retries={"total_max_attempts": 1})
    client: Any = boto3.client("s3", region_name=REGION, config=once)
    return S3Objects(through(client, S3Mishaps((status, {"Code": code}))), BUCKET)


@pytest.mark.parametrize(
    ("status", "code", "meaning"),
    [
        (404, "NoSuchUpload", UploadGone),
        (412, "PreconditionFailed", ObjectExists),
        (400, "InvalidPart", PartLost),
        (400, "InvalidPartOrder", PartLost),
        (409, "ConditionalRequestConflict", Unavailable),
        (503, "SlowDown", Unavailable),
        (500, "InternalError", Unavailable),
    ],
)
def test_a_refused_completion_means_what_its_code_says(
    aws: Cloud, status: int, code: str, meaning: type[Exception]
) -> None:
    assert aws.s3 is not None
    with pytest.raises(meaning):
        objects_with(status, code).complete("k", "u", [(1, '"e"')])


def link(aws: Cloud, **how: Any) -> tuple[str, dict[str, list[str]]]:
    assert aws.s3 is not None
    text = S3Objects(clients.s3(), BUCKET).link("results/acme/j/रिपोर्ट 1.csv.gz", **how)
    parts = urlparse(text)
    return parts.path, parse_qs(parts.query)


def test_a_link_is_to_one_version_of_an_object_under_its_own_name_and_for_minutes(aws: Cloud) -> None:
    path, query = link(aws, version="v7", file_name="रिपोर्ट 1.csv.gz", head=False, seconds=300)
    assert unquote(path).endswith("/results/acme/j/रिपोर्ट 1.csv.gz")
    assert (query["versionId"], query["X-Amz-Expires"]) == (["v7"], ["300"])
    assert query["X-Amz-Algorithm"] == ["AWS4-HMAC-SHA256"]
    (disposition,) = query["response-content-disposition"]
    name, _, encoded = disposition.partition("filename*=UTF-8''")
    assert name == 'attachment; filename="______ 1.csv.gz"; '
    assert encoded.isascii()
    assert unquote(encoded) == "रिपोर्ट 1.csv.gz"


def test_a_link_is_signed_for_its_own_method(aws: Cloud) -> None:
    get, head = (link(aws, version=None, file_name="f", head=head, seconds=300)[1] for head in (False, True))
    assert get["X-Amz-Signature"] != head["X-Amz-Signature"]
    assert "versionId" not in get
