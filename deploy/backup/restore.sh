#!/bin/sh
# Prepares a data folder from a base backup and the archived segments. PostgreSQL recovers when it is started on it.
# Run it as the user of PostgreSQL. Stop every copy of svc first: docs/operations.md, Restoring.
#
#   restore.sh FOLDER DATA_FOLDER [moment such as 2026-11-17T20:15:00Z; the end of the archive by default]
set -eu
umask 077
export LC_ALL=C

folder=$1
data=$2
moment=${3:-}

case $moment in
  '' | [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]*Z) ;;
  *)
    echo "The moment must be in UTC, such as 2026-11-17T20:15:00Z." >&2
    exit 1
    ;;
esac
if [ -e "$data" ] && [ -n "$(ls -A "$data")" ]; then
  echo "$data is not empty. Restore into another folder, and keep the old one until you have compared." >&2
  exit 1
fi
base=
for name in $(ls -1 "$folder/base" | sort); do
  if [ -z "$moment" ] || [ "$(printf '%s\n%s\n' "$name" "$moment" | sort | head -n 1)" = "$name" ]; then base=$name; fi
done
if [ -z "$base" ]; then
  echo "No base backup ended before $moment." >&2
  exit 1
fi

mkdir -p "$data"
cp -a "$folder/base/$base/." "$data"
chmod 700 "$data"
{
  echo "restore_command = 'cp \"$folder/wal/%f\" \"%p\"'"
  echo "recovery_target_action = 'promote'"
  # PostgreSQL does not read the letters T and Z here.
  if [ -n "$moment" ]; then echo "recovery_target_time = '$(echo "$moment" | sed 's/T/ /; s/Z$/+00/')'"; fi
} >>"$data/postgresql.auto.conf"
touch "$data/recovery.signal"
echo "$data: from the base backup of $base, up to ${moment:-the end of the archive}. Start PostgreSQL on it."
