-- A mail of a gift is cancelled with the gift.
alter table mails drop constraint mails_state_check;
alter table mails add constraint mails_state_check check (state in ('QUEUED', 'SENT', 'FAILED', 'CANCELLED'));
alter table mails
  add column gift_id text,
  -- The job that sends it, as long as that one runs.
  add column taken_by bigint,
  add column tried_at timestamptz;
update mails set gift_id = gifts.id from gifts
 where mails.state = 'QUEUED' and mails.template = 'gift' and gifts.code_key = lower(mails.content ->> 'code');
create index mails_gift on mails (gift_id) where state = 'QUEUED';
-- The next mail of an organisation.
create index mails_turn on mails (organization_id, environment, tried_at nulls first, created_at, id) where state = 'QUEUED';

-- Organisations take turns: the one that was served the longest time ago is next.
create table mail_turns (
  organization_id text not null,
  environment text not null,
  served_at timestamptz not null default '-infinity',
  primary key (organization_id, environment)
);
create index mail_turns_next on mail_turns (environment, served_at);
insert into mail_turns (organization_id, environment)
select distinct organization_id, environment from mails where state = 'QUEUED';

-- Mails to recipients of gifts, by the UTC day on which they were queued.
create table mail_days (
  organization_id text not null,
  environment text not null,
  day date not null,
  mails integer not null check (mails >= 0),
  primary key (organization_id, environment, day)
);
