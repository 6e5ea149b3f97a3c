-- Gift codes. A code is the credential, so it is unique in the whole deployment, whatever its case, also after its gift was deleted.
create table gifts (
  id text primary key,
  organization_id text not null,
  environment text not null,
  code text not null,
  -- Codes are ASCII; a database's own language would not spell every I as i.
  code_key text not null generated always as (lower(code collate "C")) stored,
  name text not null,
  type text not null check (type in ('GIFT_CARD', 'PROMOTIONAL', 'REFERRAL', 'LOYALTY', 'COMPENSATION')),
  amount_micros bigint not null check (amount_micros > 0),
  -- What one redemption may cost beside its amount: gas on either chain, and the bridge's fee ceiling on the way to Solana.
  gas_micros bigint not null check (gas_micros >= 0),
  bridge_micros bigint not null check (bridge_micros >= 0),
  max_redeems integer not null check (max_redeems between 1 and 1000000),
  max_redeems_per_user integer not null check (max_redeems_per_user between 1 and max_redeems),
  -- Those that hold a share now or were paid. A redeem that failed gave its place back.
  total_redeems integer not null default 0,
  redeemed_micros bigint not null default 0 check (redeemed_micros >= 0),
  starts_at timestamptz not null,
  expires_at timestamptz check (expires_at > starts_at),
  is_active boolean not null,
  cctp_fast boolean not null,
  -- The hold that new redemptions draw on; null once its rest was released.
  hold_id text references ledger_holds (id),
  recipient_email text,
  campaign_name text,
  deleted_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint gifts_never_over check (total_redeems between 0 and max_redeems),
  foreign key (organization_id, environment) references environments (organization_id, environment)
) with (fillfactor = 80);
create unique index gifts_code on gifts (code_key);
-- An organisation's gifts, newest first.
create index gifts_newest on gifts (organization_id, environment, created_at desc, id desc) where deleted_at is null;
-- Those whose rest goes back when they expire.
create index gifts_expiring on gifts (expires_at) where hold_id is not null and expires_at is not null;

-- How often each address has redeemed a gift, counted like total_redeems. Addresses are in their one normal form.
create table gift_users (
  gift_id text not null references gifts (id),
  address text not null,
  redeems integer not null check (redeems >= 0),
  primary key (gift_id, address)
) with (fillfactor = 80);

create table gift_redeems (
  id text primary key,
  gift_id text not null references gifts (id),
  organization_id text not null,
  environment text not null,
  destination_chain text not null check (destination_chain in ('starknet', 'solana')),
  -- In its normal form, and as it was given.
  address text not null,
  shown_address text not null,
  amount_micros bigint not null check (amount_micros > 0),
  -- What is reserved for it: the amount and what it may cost. It stays in this hold until the redeem has ended.
  share_micros bigint not null check (share_micros >= amount_micros),
  hold_id text not null references ledger_holds (id),
  status text not null default 'PENDING' check (status in ('PENDING', 'BRIDGING', 'ATTESTED', 'SUCCESS', 'FAILED')),
  -- The payout or burn that is under way or was executed; null while it waits to be sent.
  relay_id text references relays (id),
  -- Its payout is not gathered with others any more, because one of them failed.
  alone boolean not null default false,
  -- Not paid out before this.
  not_before timestamptz,
  -- On Starknet: the payout, or the burn.
  transaction_hash text,
  -- On Solana.
  receive_hash text,
  -- What the attestation service said last, to go on from there.
  bridge jsonb,
  -- Its share is settled already: it failed after its burn, and the operator sent it on.
  spent boolean not null default false,
  reason text,
  -- Which request with an Idempotency-Key made it: a repetition finds it, even if the first one's process died while it waited.
  request_key text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
) with (fillfactor = 80);
-- What waits to be paid, the oldest first. SUCCESS without a payout: it was paid, and a reorganisation took the payment away.
create index gift_redeems_waiting on gift_redeems (environment, destination_chain, created_at, id)
  where status in ('PENDING', 'SUCCESS') and relay_id is null;
create index gift_redeems_relay on gift_redeems (relay_id) where relay_id is not null;
create index gift_redeems_gift on gift_redeems (gift_id, created_at desc);
create index gift_redeems_request on gift_redeems (gift_id, request_key) where request_key is not null;
-- What is still reserved when a gift's rest is released.
create index gift_redeems_open on gift_redeems (hold_id) where status in ('PENDING', 'BRIDGING', 'ATTESTED');
-- Those that were burned and did not arrive, for the operator.
create index gift_redeems_stuck on gift_redeems (id)
  where destination_chain = 'solana' and status = 'FAILED' and bridge ->> 'burnedAt' is not null;
-- An organisation's redemptions, newest first.
create index gift_redeems_newest on gift_redeems (organization_id, environment, created_at desc, id desc);

-- What the account that pays out has in USDC, as last seen; null for accounts that only pay for gas.
alter table relayer_accounts add column usdc numeric(78);

-- A payment on a chain that was used for something: it counts once, whoever offers it and for whatever.
create table used_payments (
  chain_id text not null,
  transaction_hash text not null,
  organization_id text not null,
  environment text not null,
  purpose text not null check (purpose in ('deposit', 'purchase')),
  -- The ledger entry or the purchase.
  reference text not null,
  created_at timestamptz not null default now(),
  primary key (chain_id, transaction_hash)
);

-- Mail to be sent. The job that sends it names the row.
create table mails (
  id text primary key,
  organization_id text not null,
  environment text not null,
  recipient text not null,
  template text not null,
  -- What the template is filled with.
  content jsonb not null,
  state text not null default 'QUEUED' check (state in ('QUEUED', 'SENT', 'FAILED')),
  reason text,
  created_at timestamptz not null default now(),
  sent_at timestamptz
);
-- What is not sent yet, for those that look after it.
create index mails_queued on mails (environment, created_at, id) where state = 'QUEUED';

-- Takes many holds of one environment in one statement, an entry each, in the order given; or none of them where too little is
-- available. Answers what was available. A loop, because every entry continues from the balances that the one before it left.
create function ledger_hold_many(
  of_organization text, of_environment text, entry_ids text[], amounts bigint[], entry_references text[]
) returns bigint language plpgsql as $$
declare
  funds bigint;
begin
  select available into funds from ledger_balances
   where organization_id = of_organization and environment = of_environment
     for no key update;
  if funds >= (select sum(amount) from unnest(amounts) as amount) then
    for place in 1 .. cardinality(entry_ids) loop
      insert into ledger_entries (id, organization_id, environment, type, amount_micros, reference)
      values (entry_ids[place], of_organization, of_environment, 'HOLD', amounts[place], entry_references[place]);
    end loop;
  end if;
  return funds;
end $$;

-- Those who claim gifts have no key: what is counted for their addresses stands beside the windows of keys.
alter table rate_windows drop constraint rate_windows_key_id_fkey;
