#!/bin/sh
# Keeps one segment of the write-ahead log. PostgreSQL repeats it until it succeeds, and may repeat one that did.
#
#   archive_command = '/opt/svc/deploy/backup/archive.sh %p %f /var/backups/svc/wal'
set -eu

segment=$1
name=$2
folder=$3

mkdir -p "$folder"
if [ -e "$folder/$name" ]; then
  # The same segment after a crash. Another one of this name belongs to another database: do not overwrite it.
  cmp -s "$segment" "$folder/$name"
  exit
fi
cp "$segment" "$folder/.$name.part"
sync "$folder/.$name.part"
mv "$folder/.$name.part" "$folder/$name"
sync "$folder"
