-- When a redeem was paid, minted or given up; of a payout the time of its block. Null for those that ended before.
alter table gift_redeems add column ended_at timestamptz;
-- When the provider's result came.
alter table sku_purchases add column ended_at timestamptz;
-- What credits are held for, newest first.
create index ledger_holds_open on ledger_holds (organization_id, environment, id) where status = 'OPEN';
