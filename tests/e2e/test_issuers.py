"""Callers with tokens of an OpenID Connect issuer, with IAM enforced: a Cognito user pool, and issuers gone wrong."""

import base64
import hmac
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
import urllib3

from coatcheck.run.settings import OIDC, Issuer
from coatcheck_client import keys
from coatcheck_client.api import Answer, Api
from tests.coatcheck.issuers import OTHER, IssuerServer, running_issuer, token, unsigned
from tests.e2e.client import Client
from tests.e2e.live import LiveStack

PASSWORD = "Made-up-0-password!"
UNKNOWN_JOB = "/v1/jobs/j_00000000000000000000000000"


@dataclass(frozen=True, kw_only=True)
class Pool:
    """A user pool, whose users bear their tenant in an attribute, and the client that this API's tokens are for."""

    cognito: Any
    id: str
    client: str
    aws: str

    @property
    def issuer(self) -> Issuer:
        """As its tokens name it; its keys are fetched from the emulator, since that name leads to AWS."""
        return Issuer(
            url=f"https://cognito-idp.{self.id.partition('_')[0]}.amazonaws.com/{self.id}",
            audience=self.client,
            tenant_claim="custom:tenant",
            keys_url=f"{self.aws}/{self.id}/.well-known/jwks.json",
        )

    def new_client(self) -> str:
        """Another client of the pool; its tokens are for itself."""
        flows = ["ALLOW_USER_PASSWORD_AUTH", "ALLOW_REFRESH_TOKEN_AUTH"]
        made = self.cognito.create_user_pool_client(
            UserPoolId=self.id,
            ClientName="web",
            ExplicitAuthFlows=flows,
            WriteAttributes=["email"],  # and not the tenant, or whoever signs up would choose one
        )
        return str(made["UserPoolClient"]["ClientId"])

    def signed_in(self, tenant: str | None, *, client: str | None = None) -> dict[str, str]:
        """The tokens of a user of a tenant: IdToken, AccessToken."""
        name = f"user-of-{tenant}"
        given = [{"Name": "custom:tenant", "Value": tenant}] if tenant else []
        if name not in {each["Username"] for each in self.cognito.list_users(UserPoolId=self.id)["Users"]}:
            user = {"UserPoolId": self.id, "Username": name}
            self.cognito.admin_create_user(**user, UserAttributes=given, MessageAction="SUPPRESS")
            self.cognito.admin_set_user_password(**user, Password=PASSWORD, Permanent=True)
        answer = self.cognito.initiate_auth(
            AuthFlow="USER_PASSWORD_AUTH",
            ClientId=client or self.client,
            AuthParameters={"USERNAME": name, "PASSWORD": PASSWORD},
        )
        found: dict[str, str] = answer["AuthenticationResult"]
        return found


@pytest.fixture(scope="module")
def pool(live: LiveStack) -> Iterator[Pool]:
    cognito: Any = live.session.client("cognito-idp", endpoint_url=live.stack.aws_endpoint_url)
    attribute = {"Name": "tenant", "AttributeDataType": "String", "Mutable": False}
    made = cognito.create_user_pool(PoolName="sellers", Schema=[attribute])["UserPool"]["Id"]
    pool = Pool(cognito=cognito, id=made, client="", aws=live.stack.aws_endpoint_url.replace("localhost", "127.0.0.1"))
    pool = Pool(cognito=cognito, id=made, client=pool.new_client(), aws=pool.aws)
    with taking_tokens(live, pool.issuer):
        yield pool
    cognito.delete_user_pool(UserPoolId=made)


@pytest.fixture
def issuer(live: LiveStack) -> Iterator[IssuerServer]:
    """An issuer of the tests' own, for what Cognito never does."""
    with (
        running_issuer() as server,
        taking_tokens(live, Issuer(url=server.url, audience="coatcheck", tenant_claim="org")),
    ):
        yield server


def with_claims(text: str, claims: dict[str, Any]) -> str:
    header, body, signature = text.split(".")
    changed = json.loads(base64.urlsafe_b64decode(body + "==")) | claims
    return f"{header}.{base64.urlsafe_b64encode(json.dumps(changed).encode()).rstrip(b'=').decode()}.{signature}"


def hmac_signed(pool: Pool, text: str) -> str:
    """HMAC, with a key that everybody can fetch."""
    with urllib3.PoolManager(retries=False, timeout=10.0) as http:
        published = http.request("GET", str(pool.issuer.keys_url)).data
    signing = unsigned(text, "HS256").rpartition(".")[0]
    made = hmac.digest(published, signing.encode(), "sha256")
    return f"{signing}.{base64.urlsafe_b64encode(made).rstrip(b'=').decode()}"


FORGERIES: dict[str, Callable[[Pool, str], str]] = {
    "an access token, which is for no audience": lambda pool, _: pool.signed_in("coastal-crafts")["AccessToken"],
    "a token for another client": lambda pool, _: pool.signed_in("coastal-crafts", client=pool.new_client())["IdToken"],
    "a user of no tenant": lambda pool, _: pool.signed_in(None)["IdToken"],
    "another tenant under the old signature": lambda _, good: with_claims(good, {"custom:tenant": "bharat-bazaar"}),
    "no signature": lambda _, good: unsigned(good, "none", "AAAA"),
    "a signature with the public key as the secret": hmac_signed,
}


def test_a_user_of_a_cognito_pool_works_for_the_tenant_that_its_token_names(
    live: LiveStack, pool: Pool, client: Client, stranger: Client
) -> None:
    text = pool.signed_in("coastal-crafts")["IdToken"]
    accepted = asked(live, text, "POST", "/v1/jobs", json={"kind": "probe"})
    assert accepted.status == 202, accepted.body
    path = f"/v1/jobs/{accepted.document['id']}"
    assert stranger.request("GET", path).document["requested_by"].startswith("token …")
    assert client.request("GET", path).status == 404
    assert asked(live, text, path=path).document["id"] == accepted.document["id"]
    assert asked(live, text, headers={"Coatcheck-Tenant": "bharat-bazaar"}).status == 403


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_token_that_is_another_or_forged_is_a_401(live: LiveStack, pool: Pool, forgery: str) -> None:
    good = pool.signed_in("coastal-crafts")["IdToken"]
    assert refusal(live, FORGERIES[forgery](pool, good)).status == 401
    assert asked(live, good).status == 404


def test_a_token_that_is_old_or_signed_by_somebody_else_is_a_401(live: LiveStack, issuer: IssuerServer) -> None:
    assert asked(live, token(issuer, org="coastal-crafts")).status == 404
    old = refusal(live, token(issuer, exp=round(time.time()) - 60))
    assert (old.status, "expired" in old.document["detail"]) == (401, True)
    assert refusal(live, token(issuer, OTHER)).status == 401
    assert refusal(live, token(issuer, iss="https://elsewhere.example")).status == 401


@pytest.mark.parametrize("rubbish", [b"", b"<html>"])
def test_while_the_issuer_is_broken_its_callers_are_told_to_come_back_and_keys_go_on(
    live: LiveStack, issuer: IssuerServer, rubbish: bytes
) -> None:
    issuer.broken = rubbish
    answer = refusal(live, token(issuer))
    assert (answer.status, answer.headers["retry-after"]) == (503, "60")
    text = keys.new_key_text()
    keys.create(live.deployment, "coastal-crafts", text, now=datetime.now(UTC))
    assert asked(live, text).status == 404


@contextmanager
def taking_tokens(live: LiveStack, issuer: Issuer) -> Iterator[None]:
    """The authorizer is told of an issuer meanwhile, as `infra/config.py` would tell it."""
    functions = live.deployment.functions
    names = [each["FunctionName"] for each in functions.list_functions()["Functions"]]
    name = next(each for each in names if each.endswith("authorizer"))
    before = functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    told = {**before, OIDC: msgspec.json.encode(issuer).decode()}
    functions.update_function_configuration(FunctionName=name, Environment={"Variables": told})
    try:
        yield
    finally:
        functions.update_function_configuration(FunctionName=name, Environment={"Variables": before})


def asked(live: LiveStack, text: str, method: str = "GET", path: str = UNKNOWN_JOB, **more: Any) -> Answer:
    """What the caller with a credential is answered."""
    headers = {"Authorization": f"Bearer {text}", **more.pop("headers", {})}
    with Api(live.stack.api_url, None) as api:
        return api.request(method, path, headers=headers, **more)


def refusal(live: LiveStack, text: str) -> Answer:
    """The problem that a caller with a token gets."""
    answer = asked(live, text)
    assert answer.headers["content-type"] == "application/problem+json", answer.body
    assert "token" in answer.document["detail"]
    return answer
