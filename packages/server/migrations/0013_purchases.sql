-- A purchase is a transaction of type SKU_PURCHASE; what is due to its payer stands with it. Its block_number and event_index are
-- null: the transfer that paid for it has a record of its own, and a purchase does not go back with the chain.
alter table transactions
  add column refund_status text check (refund_status in ('DUE', 'REFUNDING', 'REFUNDED')),
  add column refund_transaction_hash text check (char_length(refund_transaction_hash) <= 66),
  add constraint transactions_refund_of_purchase check (refund_status is null or type = 'SKU_PURCHASE'),
  add constraint transactions_refund_after_end check (refund_status is null or status in ('FAILED', 'CANCELLED')),
  add constraint transactions_refunded_has_hash
    check ((refund_status is not null and refund_status = 'REFUNDED') = (refund_transaction_hash is not null));
-- The purchases of an environment, newest first, and those that are due for refund.
create index transactions_purchases on transactions (organization_id, environment, id) where type = 'SKU_PURCHASE';
create index transactions_refunds on transactions (organization_id, environment, refund_status, id)
  where refund_status is not null;
-- Purchases that have not ended: few at any time, and looked for every minute.
create index transactions_open_purchases on transactions (id)
  where type = 'SKU_PURCHASE' and status in ('PENDING', 'PROCESSING');

-- Cancelled ones whose payment may still come, and those whose payment is still to be given back.
create index transactions_cancelled_unpaid on transactions (updated_at)
  where type = 'SKU_PURCHASE' and status = 'CANCELLED' and refund_status is null;
create index transactions_refunds_open on transactions (environment) where refund_status in ('DUE', 'REFUNDING');

-- What a purchase has beside its record.
create table sku_purchases (
  id text collate "C" primary key references transactions (id),
  provider_id text not null,
  -- Whose service it was: one of the deployment's catalogue, or one that the organisation sells itself.
  catalogue text not null check (catalogue in ('deployment', 'organization')),
  -- The name of the service when it was bought, for mails.
  sku_name text not null,
  -- What it cost in millionths of a dollar: the lowest price of the last minutes, of which the payment had to be nearly all.
  price_micros bigint not null check (price_micros > 0),
  -- When the chain was first seen to have the payment in a sealed block, and that block's time.
  paid_at timestamptz,
  block_time timestamptz,
  -- When the provider was first called; from then on only the provider, or the operator in its place, ends the purchase.
  ordered_at timestamptz,
  -- When the provider said that it will tell the result later.
  accepted_at timestamptz,
  -- The transaction of ours that gives the payment back, and how often one was begun: each has a purpose of its own.
  refund_relay_id text,
  refunds_begun integer not null default 0 check (refunds_begun >= 0),
  constraint sku_purchases_paid_in_block check ((paid_at is null) = (block_time is null)),
  constraint sku_purchases_ordered_is_paid check (ordered_at is null or paid_at is not null),
  constraint sku_purchases_accepted_is_ordered check (accepted_at is null or ordered_at is not null)
);
-- The purchase that a refund belongs to.
create index sku_purchases_refund_relay on sku_purchases (refund_relay_id) where refund_relay_id is not null;

-- A transfer that gave a payment back counts once, like the payment.
alter table used_payments drop constraint used_payments_purpose_check;
alter table used_payments add constraint used_payments_purpose_check check (purpose in ('deposit', 'purchase', 'refund'));
