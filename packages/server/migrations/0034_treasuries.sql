-- Accounts whose payments several signers approve.
create table treasuries (
  id text primary key,
  organization_id text not null,
  environment text not null,
  name text not null check (char_length(name) between 1 and 100),
  address text not null,
  class_hash text not null,
  salt text not null,
  constructor_calldata text[] not null,
  -- Signers, threshold and limits, as the chain has them.
  policy jsonb not null,
  -- Of the next change of the policy. Proposals that replace each other share it, so the chain executes one at most.
  policy_nonce text not null,
  is_deployed boolean not null default false,
  -- The deployment.
  relay_id text references relays (id) deferrable initially deferred,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (environment, address),
  foreign key (organization_id, environment) references environments (organization_id, environment)
);
-- The list of an environment, newest first.
create index treasuries_environment on treasuries (organization_id, environment, created_at desc, id desc);

create table treasury_proposals (
  id text primary key,
  treasury_id text not null references treasuries (id),
  kind text not null check (kind in ('TRANSFERS', 'CALLS', 'POLICY')),
  state text not null default 'PENDING'
    check (state in ('PENDING', 'READY', 'EXECUTING', 'EXECUTED', 'FAILED', 'EXPIRED', 'CANCELLED')),
  description text not null check (char_length(description) <= 500),
  calls jsonb not null,
  -- Of the outside execution.
  nonce text not null,
  execute_after bigint not null,
  expires_at timestamptz not null,
  message_hash text not null,
  required_signatures integer not null check (required_signatures between 1 and 20),
  -- A key id, or member:<id>.
  proposed_by text not null,
  proposed_by_name text not null,
  -- The policy after a change of it, and the one before once it was executed.
  policy jsonb,
  previous_policy jsonb,
  replaces text references treasury_proposals (id),
  replaced_by text references treasury_proposals (id) deferrable initially deferred,
  relay_id text references relays (id) deferrable initially deferred,
  transaction_hash text,
  executed_tx_hash text,
  failure_reason text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((kind = 'POLICY') = (policy is not null)),
  check (state <> 'EXECUTED' or executed_tx_hash is not null),
  check ((state in ('EXECUTING', 'EXECUTED', 'FAILED')) = (relay_id is not null))
);
-- The list of a treasury, newest first.
create index treasury_proposals_treasury on treasury_proposals (treasury_id, created_at desc, id desc);
-- Those that can expire, and those of one nonce of which one may be open.
create index treasury_proposals_open on treasury_proposals (expires_at) where state in ('PENDING', 'READY');
create unique index treasury_proposals_nonce on treasury_proposals (treasury_id, nonce)
  where state in ('PENDING', 'READY', 'EXECUTING');
create unique index treasury_proposals_relay on treasury_proposals (relay_id) where relay_id is not null;

create table treasury_signatures (
  proposal_id text not null references treasury_proposals (id),
  public_key text not null,
  -- Of the signer, when it signed.
  name text not null,
  r text not null,
  s text not null,
  signed_at timestamptz not null default now(),
  primary key (proposal_id, public_key)
);
