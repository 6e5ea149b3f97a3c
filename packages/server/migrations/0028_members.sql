-- People who sign in to the dashboard. One person can be a member of several organisations.
create table people (
  id text primary key,
  email text not null unique check (email = lower(email) and char_length(email) between 3 and 254),
  name text not null default '' check (char_length(name) <= 100),
  created_at timestamptz not null default now()
);

create table members (
  id text primary key,
  organization_id text not null references organizations (id),
  person_id text not null references people (id),
  role text not null check (role in ('OWNER', 'DEVELOPER', 'VIEWER')),
  created_at timestamptz not null default now(),
  -- Null until the invitation is accepted.
  joined_at timestamptz,
  removed_at timestamptz
);
create unique index members_current on members (organization_id, person_id) where removed_at is null;
-- The organisations of a person, at sign-in.
create index members_person on members (person_id) where removed_at is null;

-- People who operate the deployment.
create table operators (
  person_id text primary key references people (id),
  created_at timestamptz not null default now()
);

-- Links that sign a person in, once. An invitation names the membership or makes an operator.
create table sign_in_links (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  purpose text not null check (purpose in ('SIGN_IN', 'INVITATION')),
  person_id text not null references people (id),
  organization_id text references organizations (id),
  member_id text references members (id),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz
);
-- How many links a person was sent lately.
create index sign_in_links_person on sign_in_links (person_id, created_at);
create index sign_in_links_expired on sign_in_links (expires_at);

-- Of the token in the cookie only the hash.
create table member_sessions (
  id text primary key,
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  person_id text not null references people (id),
  -- The organisation that the person looks at; null for an operator without one.
  organization_id text references organizations (id),
  user_agent text not null check (char_length(user_agent) <= 200),
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index member_sessions_person on member_sessions (person_id, created_at);
create index member_sessions_expired on member_sessions (expires_at);

create table member_passkeys (
  id text primary key,
  person_id text not null references people (id),
  credential_id text not null unique check (char_length(credential_id) <= 1400),
  public_key bytea not null,
  counter bigint not null check (counter >= 0),
  transports text[] not null,
  name text not null check (char_length(name) between 1 and 100),
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index member_passkeys_person on member_passkeys (person_id, created_at);

-- Valid once, and only until they expire.
create table passkey_challenges (
  challenge_hash bytea primary key check (octet_length(challenge_hash) = 32),
  -- The session that registers a passkey; null to sign in with one.
  session_id text references member_sessions (id) on delete cascade,
  expires_at timestamptz not null
);
create index passkey_challenges_expired on passkey_challenges (expires_at);

-- Replicas keep sessions with their roles in memory, like keys.
create trigger members_changed after insert or update or delete on members
  for each statement execute function notify_credentials_changed();
create trigger operators_changed after insert or update or delete on operators
  for each statement execute function notify_credentials_changed();
create trigger people_changed after update or delete on people
  for each statement execute function notify_credentials_changed();
create trigger member_sessions_changed after update of revoked_at, organization_id or delete on member_sessions
  for each statement execute function notify_credentials_changed();

-- The e-mail address of the member, where a member did it.
alter table audit_log add column actor_name text check (char_length(actor_name) <= 254);
