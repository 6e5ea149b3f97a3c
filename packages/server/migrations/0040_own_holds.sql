-- A hold has the id of the entry that takes it, also where the entry brings its own figures.
-- Contracts: every version writes holds in this way. Rows of before are not read again, which would lock a large table.
alter table ledger_entries add constraint ledger_entries_own_hold check (type <> 'HOLD' or hold_id = id) not valid;
