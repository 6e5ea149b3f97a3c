-- Links to the evidence of a redeem carry the number that it had; a higher one ends them all.
alter table gift_redeems add column evidence_links integer not null default 0;
