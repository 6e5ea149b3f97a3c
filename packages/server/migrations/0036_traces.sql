-- W3C traceparent of the request that caused the row; null where nothing is traced.
alter table relays add column traceparent text;
alter table jobs add column traceparent text;
