"""Calls a running service with the generated client: reads, a change, a refusal, and endpoints without credentials."""

import os
import uuid
from datetime import datetime, timezone

from svc_client import AuthenticatedClient, Client
from svc_client.api.claims import claim_gift, redeem_gift
from svc_client.api.exchanges import get_usd_amount
from svc_client.api.gifts import create_gift, list_gifts
from svc_client.api.organisation import get_config, get_organization
from svc_client.api.sk_us import get_sku, list_skus
from svc_client.api.transactions import list_environment_transactions
from svc_client.api.wallets import get_wallet_by_user
from svc_client.models import CreateGiftBody, Error, GetUsdAmountCurrency, ListSkusCategory, RedeemGiftBody
from svc_client.models import RedeemGiftBodyChain

base_url = os.environ["BASE_URL"]
client = AuthenticatedClient(
    base_url=base_url,
    token=os.environ["SECRET_KEY"],
    headers={"x-api-key": os.environ["PUBLIC_KEY"]},
    raise_on_unexpected_status=True,
)
anyone = Client(base_url=base_url, raise_on_unexpected_status=True)

page = list_skus.sync(client=client, category=ListSkusCategory.RECARGAS, limit=3)
assert len(page.data) == 3 and page.total >= 3, page
assert get_sku.sync(client=client, id=page.data[0].id).name == page.data[0].name
assert get_usd_amount.sync(client=client, currency_amount=185, currency=GetUsdAmountCurrency.MXN) == 10
assert get_config.sync(client=client).tokens
before = get_organization.sync(client=client).balance.total_usd
assert before > 0, before

refused = get_wallet_by_user.sync(client=client, external_user_id="nobody")
assert isinstance(refused, Error) and refused.error == "wallet_not_found", refused

code = f"PYTHON-{uuid.uuid4()}"
gift = create_gift.sync(
    client=client,
    body=CreateGiftBody(
        code=code,
        name="From Python",
        amount=2,
        max_redeems=1,
        max_redeems_per_user=1,
        starts_at=datetime.now(timezone.utc).isoformat(),
        is_active=True,
    ),
)
assert gift.code == code and gift.amount == "2", gift
assert code in [one.code for one in list_gifts.sync(client=client).data]
assert claim_gift.sync(client=anyone, code=code).valid is True
redeemed = redeem_gift.sync(
    client=anyone,
    code=code,
    body=RedeemGiftBody(wallet_address="0xb0b", chain=RedeemGiftBodyChain.STARKNET),
)
assert redeemed.gift_redeem.amount == "2", redeemed
assert claim_gift.sync(client=anyone, code=code).valid is False
assert list_environment_transactions.sync(client=client).data == []
print("The Python client works: skus, exchange, configuration, organisation, wallets, gifts, claims, transactions.")
