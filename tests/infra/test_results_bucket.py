"""The results bucket: private, versioned, and emptied when its time is over."""

from tests.infra.template import Template


def test_results_are_encrypted_versioned_and_every_access_is_logged(template: Template) -> None:
    bucket = template.output("ResultsBucket").properties
    (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "AES256"}
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    assert template.referred(bucket["LoggingConfiguration"]["DestinationBucketName"]).type == "AWS::S3::Bucket"


def test_objects_stay_a_day_longer_than_what_names_them(template: Template) -> None:
    rules = template.output("ResultsBucket").properties["LifecycleConfiguration"]["Rules"]
    expiry = {rule["Prefix"]: rule["ExpirationInDays"] for rule in rules if "Prefix" in rule}
    assert expiry == {"results/": 8, "cursors/": 61}
    timings = template.config.timings
    assert expiry["results/"] > timings.keep_result.days
    assert expiry["cursors/"] > (timings.give_up_after + timings.keep_row).days


def test_abandoned_uploads_and_overwritten_versions_go(template: Template) -> None:
    rules = template.output("ResultsBucket").properties["LifecycleConfiguration"]["Rules"]
    (everywhere,) = (rule for rule in rules if "Prefix" not in rule)
    assert everywhere["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 8}
    assert everywhere["NoncurrentVersionExpiration"] == {"NoncurrentDays": 1}


def test_buckets_on_aws_refuse_what_is_not_tls(on_aws: Template) -> None:
    refusing = {
        on_aws.referred(policy.properties["Bucket"]).id
        for policy in on_aws.of("AWS::S3::BucketPolicy")
        for statement in on_aws.statements(policy)
        if statement.effect == "Deny" and statement.conditions == {"Bool": {"aws:SecureTransport": "false"}}
    }
    assert refusing == {bucket.id for bucket in on_aws.of("AWS::S3::Bucket")}


def test_buckets_on_aws_stay_when_the_stack_goes(on_aws: Template) -> None:
    assert {bucket.deletion_policy for bucket in on_aws.of("AWS::S3::Bucket")} == {"Retain"}
