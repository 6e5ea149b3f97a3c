#!/bin/sh
# Takes a base backup, checks it, and deletes older ones with the segments that only they needed.
# Connects as libpq does (PGHOST, PGPORT, PGUSER, PGPASSFILE), with a role that has REPLICATION.
#
#   base-backup.sh FOLDER [how many to keep, 14 by default]
set -eu
umask 077
export LC_ALL=C

folder=$1
keep=${2:-14}
draft="$folder/base/.draft"

mkdir -p "$folder/base"
rm -rf "$draft"
pg_basebackup --pgdata "$draft" --wal-method=stream --checkpoint=fast --manifest-checksums=SHA256 --no-password
pg_verifybackup --quiet "$draft"
# Named by its end: it can be restored to any later moment.
name=$(date -u +%Y-%m-%dT%H:%M:%SZ)
mv "$draft" "$folder/base/$name"
sync "$folder/base"

cd "$folder/base"
ls -1 | sort -r | tail -n "+$((keep + 1))" | while read -r old; do rm -rf "./$old"; done

oldest=$(ls -1 | sort | head -n 1)
first=$(sed -n 's/^START WAL LOCATION: .* (file \([0-9A-F]*\))$/\1/p' "$oldest/backup_label")
[ -d "$folder/wal" ] && pg_archivecleanup "$folder/wal" "$first"
echo "$folder/base/$name"
