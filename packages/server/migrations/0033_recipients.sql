-- Recipients of gifts whose wallet was made with the gift's code. Known to one organisation and environment only.
create table recipients (
  -- The external_user_id of the wallet.
  id text primary key check (id like 'rcp\_%'),
  organization_id text not null,
  environment text not null,
  address text not null check (address ~ '^0x[0-9a-f]{64}$'),
  -- One redeem makes one wallet at most.
  redeem_id text not null unique references gift_redeems (id),
  -- SHA-256 of what the browser derives from the recovery code to sign in.
  recovery_hash bytea unique check (octet_length(recovery_hash) = 32),
  created_at timestamptz not null default now(),
  foreign key (organization_id, environment) references environments (organization_id, environment),
  unique (environment, address)
);

create table recipient_passkeys (
  credential_id text primary key check (char_length(credential_id) <= 1400),
  recipient_id text not null references recipients (id) on delete cascade,
  public_key bytea not null,
  counter bigint not null check (counter >= 0),
  transports text[] not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index recipient_passkeys_recipient on recipient_passkeys (recipient_id, created_at);

-- Challenges carry their own proof; a row says that one was answered, so that no answer counts twice.
create table used_challenges (
  challenge_hash bytea primary key check (octet_length(challenge_hash) = 32),
  expires_at timestamptz not null
);
create index used_challenges_expired on used_challenges (expires_at);

alter table environments
  -- Whether gift codes make wallets for recipients who have none.
  add column recipient_wallets boolean not null default true,
  -- The organisation's own app, where recipients are sent instead.
  add column recipient_app_url text check (char_length(recipient_app_url) <= 2000);
