"""Holds what goes over the wire against openapi/orbweaver.yaml (OpenAPI 3.1, JSON Schema 2020-12)."""
import json
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

DOCUMENT = "urn:orbweaver:openapi"


class ContractViolation(AssertionError):
    """The gateway said, or accepted, something its description does not know."""


class Contract:
    def __init__(self, path: Path):
        self.document = yaml.safe_load(path.read_text())
        self._registry = Registry().with_resource(
            DOCUMENT, Resource.from_contents(self.document, default_specification=DRAFT202012)
        )
        self._templates = [(re.compile(pattern_of(template)), template) for template in self.document["paths"]]
        self.seen: set[tuple[str, str, str]] = set()
        """Every (method, path template, status) that came by."""

    def check(self, method: str, url: str, request_body: object, status: int, content_type: str, response_body: bytes):
        """One request and its answer. `request_body`: the JSON value that was sent, None if there was none.

        A request may be anything as long as it is refused; one that is accepted must be as described.
        """
        template = self._template(urlsplit(url).path)
        where = f"{method} {template or url} → {status}"
        if template is None or method in ("OPTIONS", "HEAD"):
            return
        operation = self._resolved(self.document["paths"][template].get(method.lower()))
        if operation is None:
            if status != 405:
                raise ContractViolation(f"{where}: the method is not described, so 405 was due")
            return
        self.seen.add((method, template, str(status)))

        if status < 300 and request_body is not None:
            body = self._resolved(operation.get("requestBody"))
            if body is None:
                raise ContractViolation(f"{where}: a body was accepted though none is described")
            self._validate(request_body, body["content"]["application/json"]["schema"], f"{where}, request")

        responses = operation["responses"]
        response = self._resolved(
            responses.get(str(status)) or responses.get(f"{status // 100}XX") or responses.get("default")
        )
        if response is None:
            raise ContractViolation(f"{where}: the status is not described: {response_body[:500]!r}")
        content = response.get("content")
        if not content:
            return
        media_type = content_type.split(";")[0].strip()
        if media_type not in content:
            raise ContractViolation(f"{where}: content type {content_type!r} is not among {list(content)}")
        if media_type in ("application/json", "application/problem+json"):
            self._validate(json.loads(response_body), content[media_type]["schema"], f"{where}, response")

    def check_notification(self, envelope: object):
        self._validate(envelope, {"$ref": "#/components/schemas/NotificationMessageEnvelope"}, "notification")

    def check_value(self, value: object, schema: str):
        """A value by itself, against one of the document's schemas."""
        self._validate(value, {"$ref": f"#/components/schemas/{schema}"}, schema)

    def _template(self, path: str) -> str | None:
        path = path.rstrip("/") or "/"
        return next((template for pattern, template in self._templates if pattern.fullmatch(path)), None)

    def _resolved(self, value):
        while isinstance(value, dict) and "$ref" in value:
            target = self.document
            for key in value["$ref"].removeprefix("#/").split("/"):
                target = target[unquote(key).replace("~1", "/").replace("~0", "~")]
            value = target
        return value

    def validator(self, schema: dict) -> Draft202012Validator:
        # Inside the document's own scope, so that "#/components/…" means what it means there.
        schema = {"$id": f"{DOCUMENT}:check", "allOf": [absolute(schema)]}
        return Draft202012Validator(schema, registry=self._registry)

    def _validate(self, value: object, schema: dict, where: str):
        hold(value, self.validator(schema), where)


def hold(value: object, validator: Draft202012Validator, where: str):
    errors = list(validator.iter_errors(value))
    if errors:
        details = "; ".join(f"{error.json_path}: {error.message[:300]}" for error in errors)
        raise ContractViolation(f"{where} is not as described: {details}")


def pattern_of(template: str) -> str:
    return "".join("[^/]+" if part.startswith("{") else re.escape(part) for part in re.split(r"({[^}]+})", template))


def absolute(schema: object) -> object:
    """The same schema with its references written in full."""
    if isinstance(schema, dict):
        return {
            key: (
                DOCUMENT + value
                if key == "$ref" and isinstance(value, str) and value.startswith("#")
                else absolute(value)
            )
            for key, value in schema.items()
        }
    if isinstance(schema, list):
        return [absolute(item) for item in schema]
    return schema
