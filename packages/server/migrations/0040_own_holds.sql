-- A hold has the id of the entry that takes it, also where the entry brings its own figures.
-- Contracts: every version writes holds in this way.
alter table ledger_entries add constraint ledger_entries_own_hold check (type <> 'HOLD' or hold_id = id);
