-- What a unit of `base` cost in `quote`, as a source answered it. Replicas share the newest row before they ask again.
create table exchange_rates (
  id bigint generated always as identity primary key,
  base text not null check (base ~ '^[A-Z]{3}$'),
  quote text not null check (quote ~ '^[A-Z]{3}$'),
  rate numeric(30, 18) not null check (rate > 0),
  source text not null check (char_length(source) between 1 and 40),
  -- The day that the source gives for the rate; null where it gives none.
  observed_on date,
  fetched_at timestamptz not null,
  -- Until when the rate was used: a minute, and longer while no source answered.
  valid_until timestamptz not null,
  check (valid_until >= fetched_at)
);
-- The newest rate of a pair, and the removal of the oldest ones.
create index exchange_rates_fetched_at on exchange_rates (base, quote, fetched_at);
-- The rates of a pair that were in force within the last minutes, for the price of a purchase.
create index exchange_rates_valid_until on exchange_rates (base, quote, valid_until);
