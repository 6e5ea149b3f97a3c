-- The transaction that stored an event; 0 for those of before. Streams send events in this order: below the oldest
-- transaction that is still open nothing can be added.
alter table events add column transaction xid8 not null default '0';
alter table events alter column transaction set default pg_current_xact_id();
create index events_stream on events (organization_id, environment, transaction, id);

create function notify_event() returns trigger language plpgsql as $$
begin
  perform pg_notify('svc_events', new.organization_id || ' ' || new.environment);
  return null;
end
$$;
create trigger events_notify after insert on events for each row execute function notify_event();
