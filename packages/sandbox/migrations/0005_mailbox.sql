-- What the service mailed in development, as whole messages, the newest thousand.
create table sandbox.mails (
  id integer generated always as identity primary key,
  -- A message that is sent again keeps its id, and is kept once.
  message_id text collate "C" not null unique,
  -- As its headers say, for the list.
  sender text not null,
  recipient text not null,
  subject text not null,
  raw bytea not null,
  received_at timestamptz not null default now()
);
-- One recipient's mails, newest first.
create index mails_recipient on sandbox.mails (lower(recipient), id desc);
