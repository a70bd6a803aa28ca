"""Loaded by schemathesis for the administration interface: what the requests themselves need is not removed.

Schemathesis learns names from answers, and would revoke the token that it asks with.
"""
import schemathesis

NEEDED = {"removeUser": ("user", "alice@dev.local"), "removeApplication": ("name", "portal"),
          "revokeToken": ("name", "schemathesis")}  # fmt: skip


@schemathesis.hook
def before_call(context, case, kwargs):
    parameter, needed = NEEDED.get(case.operation.definition.raw.get("operationId"), (None, None))
    if parameter and case.path_parameters.get(parameter) == needed:
        case.path_parameters[parameter] = "made-up"
