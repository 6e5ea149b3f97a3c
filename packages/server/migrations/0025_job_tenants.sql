-- The organisation that a job is for. Null: shared work, such as a relayer account's, or work that no organisation can multiply.
alter table jobs add column tenant text check (char_length(tenant) between 1 and 200);
