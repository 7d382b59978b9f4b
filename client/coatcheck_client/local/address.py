"""The API's address on this machine: its own custom domain, which any HTTP client can resolve."""

from typing import TYPE_CHECKING

from coatcheck_client.local.port import LOOPBACK

if TYPE_CHECKING:
    from types_boto3_apigatewayv2 import ApiGatewayV2Client

_STAGE = "$default"


def publish(api_gateway: "ApiGatewayV2Client", api_id: str) -> None:
    """Serve the API at the root of http://127.0.0.1:<port>.

    The emulator's own names (`<api>.execute-api.localhost`) are not resolved by every client; an address that is
    registered as a custom domain name is.
    """
    domains = [domain["DomainName"] for domain in api_gateway.get_domain_names()["Items"]]
    if LOOPBACK not in domains:
        api_gateway.create_domain_name(DomainName=LOOPBACK)
    mappings = api_gateway.get_api_mappings(DomainName=LOOPBACK)["Items"]
    if not mappings:
        api_gateway.create_api_mapping(DomainName=LOOPBACK, ApiId=api_id, Stage=_STAGE)
    elif mappings[0]["ApiId"] != api_id:
        api_gateway.update_api_mapping(
            DomainName=LOOPBACK, ApiMappingId=mappings[0]["ApiMappingId"], ApiId=api_id, Stage=_STAGE
        )
