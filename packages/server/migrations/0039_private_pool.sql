-- The fee of the private pool that the relay's account pays besides gas; counted on the budget while it is paid or can be.
alter table relays add column pool_fee numeric(78) not null default 0;

alter table transactions drop constraint transactions_type_check;
alter table transactions add constraint transactions_type_check check (
  type in ('SEND', 'RECEIVE', 'CONTRACT_CALL', 'SKU_PURCHASE', 'SHIELD', 'UNSHIELD', 'PRIVATE_TRANSFER'));
