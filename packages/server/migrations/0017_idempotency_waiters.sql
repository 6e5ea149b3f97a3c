-- Set by a duplicate that waits for the answer. Only then is the answer announced: NOTIFY serialises commits.
alter table idempotency_keys add column awaited boolean not null default false;
