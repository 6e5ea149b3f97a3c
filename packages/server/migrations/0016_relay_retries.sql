-- How often in a row the outcome of a relay could not be recorded. While it is under way, looked_at is the last try, and the delay to
-- the next one doubles.
alter table relays add column outcome_failures integer not null default 0;
