#!/usr/bin/env bash
# Makes the secrets of compose.yaml that can be made by chance. Never replaces one.
#
#   deploy/compose/make-secrets.sh [folder]
set -euo pipefail
umask 077

folder=${1:-"$(cd "$(dirname "$0")" && pwd)/secrets"}
mkdir -p "$folder"
# Other users cannot enter the folder. The files themselves are readable, because each container has a user of its own.
chmod 700 "$folder"

random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }

keep() {
  if [ -e "$folder/$1" ]; then return; fi
  printf '%s\n' "$2" >"$folder/$1"
  chmod 444 "$folder/$1"
  echo "made $1"
}

keep postgres_password "$(random)"
keep owner_password "$(random)"
keep service_password "$(random)"
keep database_owner_url "postgres://svc_owner:$(cat "$folder/owner_password")@postgres:5432/svc"
keep database_url "postgres://svc_service:$(cat "$folder/service_password")@postgres:5432/svc"
keep operator_token "op_$(random)"
keep metrics_token "$(random)"

for name in relayer_accounts manager_account; do
  [ -e "$folder/$name" ] || echo "missing: $folder/$name, as 0xADDRESS:0xPRIVATEKEY (docs/deploy.md)"
done
