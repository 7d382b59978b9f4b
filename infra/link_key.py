"""The key that signs the addresses of results."""

from typing import cast

from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from coatcheck.run import settings
from infra.python_function import PythonFunction

CHARACTERS = 64


class LinkKey(Construct):
    """A secret that nobody ever sees: it is made here, and replaced only to void every link that is out."""

    def __init__(self, scope: Construct, id_: str) -> None:
        super().__init__(scope, id_)
        secret = secretsmanager.Secret(
            self,
            "Secret",
            description="Signs the addresses of results that need no API key",
            generate_secret_string=secretsmanager.SecretStringGenerator(
                password_length=CHARACTERS, exclude_punctuation=True
            ),
        )
        # Ref means the ARN, too, but to the emulator it is the name, which no policy would fit.
        self.arn = cast("secretsmanager.CfnSecret", secret.node.default_child).attr_id

    def let_sign(self, function: PythonFunction) -> None:
        function.tell(**{settings.LINK_SECRET_ARN: self.arn})
        function.allow("secretsmanager:GetSecretValue", on=[self.arn])
