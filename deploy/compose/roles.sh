#!/usr/bin/env bash
# Runs once, when the database is made: two roles, so that the service cannot change the schema (docs/security.md).
set -euo pipefail

psql --username postgres --set ON_ERROR_STOP=1 \
  --set owner_password="$(cat /run/secrets/owner_password)" \
  --set service_password="$(cat /run/secrets/service_password)" <<'SQL'
create role svc_owner login password :'owner_password';
create role svc_service login password :'service_password';
create database svc owner svc_owner;
SQL
