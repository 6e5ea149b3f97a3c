-- When a caller first recorded the transfer; null for what only the indexer or a relay stored.
alter table transactions add column recorded_at timestamptz;
