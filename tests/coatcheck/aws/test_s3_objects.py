"""The results bucket: links, and refusals by their codes."""

import gzip
from datetime import UTC, datetime
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
from coatcheck.output import Output
from coatcheck.store import Unavailable
from tests.coatcheck.cloud import BUCKET, REGION, Cloud, Mishaps, through, watched


class S3Mishaps(Mishaps):
    """S3 answers in XML."""

    def trouble(self, request: AWSPreparedRequest, status: int, body: dict[str, Any]) -> AWSResponse:
        text = f"<Error><Code>{body['Code']}</Code><Message>OTHER words</Message></Error>"
        headers: Any = {"content-type": "application/xml"}
        raw: Any = MockRawResponse(text)
        return AWSResponse(request.url, status, headers, raw)


def objects_with(status: int, code: str, times: int = 1, tries: int = 1) -> S3Objects:
    """A bucket whose next answers, one or more, are this error."""
    config = Config(retries={"mode": "standard", "total_max_attempts": tries})
    client: Any = boto3.client("s3", region_name=REGION, config=config)
    return S3Objects(through(client, S3Mishaps(*[(status, {"Code": code})] * times)), BUCKET)


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


def test_only_the_object_that_was_listed_is_deleted_and_not_what_replaced_it_meanwhile(aws: Cloud) -> None:
    objects = S3Objects(clients.s3(), BUCKET)
    objects.put("results/acme/gone/a", b"1", nonce="n", content_type="text/plain")
    listed = objects.head("results/acme/gone/a")
    assert listed is not None
    with watched(clients.s3(), "DeleteObject") as deleted:
        objects.remove("results/acme/gone/", before=datetime(2100, 1, 1, tzinfo=UTC))
    assert [(each["Key"], each["IfMatch"]) for each in deleted] == [(listed.key, listed.etag)]


@pytest.mark.parametrize(("status", "code"), [(412, "PreconditionFailed"), (404, "NoSuchKey")])
def test_an_object_that_was_replaced_or_is_gone_is_nothing_to_delete(aws: Cloud, status: int, code: str) -> None:
    assert aws.s3 is not None
    objects_with(status, code)._delete("results/acme/gone/a", '"e"')


@pytest.mark.parametrize(("status", "code"), [(503, "SlowDown"), (409, "ConditionalRequestConflict")])
def test_a_delete_that_cannot_be_decided_is_tried_again_later(aws: Cloud, status: int, code: str) -> None:
    assert aws.s3 is not None
    with pytest.raises(Unavailable):
        objects_with(status, code)._delete("results/acme/gone/a", '"e"')


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


@pytest.fixture
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK's own, before it tries again."""
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)


class SlowAtTheSeventh(S3Objects):
    """Of an upload's parts, one is refused, however often the SDK tries."""

    def put_part(self, key: str, upload_id: str, number: int, data: bytes) -> str:
        if number == 7:
            return objects_with(503, "SlowDown", times=10, tries=5).put_part(key, upload_id, number, data)
        return super().put_part(key, upload_id, number, data)


@pytest.mark.usefixtures("aws", "no_waits")
def test_a_part_that_s3_refuses_for_its_rate_again_and_again_makes_no_result() -> None:
    bucket = SlowAtTheSeventh(clients.s3(), BUCKET)
    out = Output(bucket, "slow", "application/gzip", lambda: "nonce-1", None)
    for _ in range(6):
        out.write(b"some")
        out.put_part()
    out.write(b"rest")
    with pytest.raises(Unavailable, match="SlowDown"):
        out.complete()
    assert bucket.head("slow") is None


@pytest.mark.usefixtures("aws", "no_waits")
def test_a_completion_that_is_answered_with_200_and_an_error_in_its_body_is_no_success() -> None:
    with pytest.raises(Unavailable, match="InternalError"):
        objects_with(200, "InternalError", times=5, tries=5).complete("k", "u", [(1, '"e"')])


@pytest.mark.parametrize("parts", [False, True])
def test_a_csv_gz_is_stored_without_an_encoding_so_that_nobody_unpacks_it_on_the_way(
    aws: Cloud, *, parts: bool
) -> None:
    data = gzip.compress(b"invoice_id,total\n1,2.50\n")
    name = f"results/acme/j_gz_{parts}/report.csv.gz"
    out = Output(S3Objects(clients.s3(), BUCKET), name, "application/gzip", lambda: "nonce-1", None)
    out.write(data)
    if parts:
        out.put_part()
    file = out.complete()
    stored: dict[str, Any] = dict(aws.s3.get_object(Bucket=BUCKET, Key=name))
    assert stored["ContentType"] == "application/gzip"
    assert "ContentEncoding" not in stored
    assert stored["Body"].read() == data
    assert file.bytes == len(data)
    _, query = link(aws, version=file.version, file_name="report.csv.gz", head=False, seconds=300)
    assert {"response-content-encoding", "response-content-type"} & set(query) == set()
