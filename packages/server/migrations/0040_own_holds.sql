-- Contracts: a hold has the id of the entry that takes it, also where the entry brings its own figures. Every version writes it so.
-- Rows of before are not read again: that would lock a large table.
alter table ledger_entries add constraint ledger_entries_own_hold check (type <> 'HOLD' or hold_id = id) not valid;
