-- Anyone can read a public key, so in production it manages gifts only where the organisation allows it, up to a limit a day.
update environments set gifts_need_secret_key = true where environment = 'production';
alter table environments add column public_key_gifts_daily_micros bigint check (public_key_gifts_daily_micros >= 0);
update environments set public_key_gifts_daily_micros = 100000000 where environment = 'production';

create function secure_new_environment() returns trigger language plpgsql as $$
begin
  if new.environment = 'production' then
    new.gifts_need_secret_key := true;
    new.public_key_gifts_daily_micros := coalesce(new.public_key_gifts_daily_micros, 100000000);
  end if;
  return new;
end $$;
create trigger environments_secure_default before insert on environments
  for each row execute function secure_new_environment();

-- What gifts created with the public key alone may pay out, by the UTC day of their creation.
create table public_key_gift_totals (
  organization_id text not null,
  environment text not null,
  day date not null,
  total_micros bigint not null check (total_micros >= 0),
  primary key (organization_id, environment, day),
  foreign key (organization_id, environment) references environments (organization_id, environment)
);
