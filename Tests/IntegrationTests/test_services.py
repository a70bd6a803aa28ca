"""Services of the protocol that this gateway does not have: clients are told so in words that they read
(spidr-wire §10, §12.1)."""
import asyncio
import json

import pytest

SERVICES = [
    ("POST", "/imrn", {"imrnRequest": {"realm": "dev.local", "sourceAddress": "alice@dev.local",
                                       "destinationAddress": "bob@dev.local"}}, "imrnResponse"),
]  # fmt: skip


@pytest.mark.parametrize("method, path, body, wrapper", SERVICES, ids=["imrn"])
async def test_a_service_is_refused_in_its_own_wrapper(peer, method, path, body, wrapper):
    alice = await peer("alice", registered=False)
    (await alice.request(method, path, body)).refused(403, 35, wrapper, "service.not_provided")


async def test_a_browser_on_another_origin_reads_the_refusal(gateway, browser, peer):
    """Without an answer to its preflight it would only know that something failed."""
    alice = await peer("alice", registered=False)
    page = await asyncio.to_thread(browser().page, gateway.http + "/")
    for path, status in (("/imrn", 403), ("/no/such/thing", 404)):
        wish = {
            "method": "POST",
            "headers": {"Authorization": alice.credentials, "Content-Type": "application/json"},
            "body": "{}",
        }
        url = gateway.https + alice.path(path)
        answer = await asyncio.to_thread(
            page.run,
            f"fetch({json.dumps(url)}, {json.dumps(wish)})"
            ".then(async (answer) => [answer.status, await answer.json()])",
        )
        assert answer[0] == status
        assert answer[1].get("imrnResponse", answer[1])["statusCode"] in (35, 18)
