"""Loaded by schemathesis for `/v1`: made-up calls go to people who are there, and keep to themselves."""
import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    # Names with characters that no path can have would be asked of other paths.
    call = case.path_parameters.get("id") if case.path_parameters else None
    if isinstance(call, str) and ("/" in call or call in ("", ".", "..")):
        case.path_parameters["id"] = "made-up"
