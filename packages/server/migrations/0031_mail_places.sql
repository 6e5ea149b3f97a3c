-- All mails of a day are counted, those to organisations too. A notification over the number is not sent; one of them tells so.
alter table mails
  add column day date,
  add column place_of_day integer;
alter table mail_days add column notice_mail text;
