import { keyKinds } from '@svc/protocol';
import { Argument, type Command } from 'commander';
import { action, group, type LimitOptions, pageSize, take, withLimit } from '../context.ts';
import { usage } from '../failure.ts';
import { parseSetting, settingNames } from '../formats.ts';
import { facts, time } from '../output.ts';

export function keysCommand(): Command {
  const keys = group('keys', 'list, make and revoke the keys of your environment');
  withLimit(keys.command('list', { isDefault: true }))
    .description('list keys, newest first')
    .action(
      action<LimitOptions>(async ({ svc, out }, options) => {
        const rows = await take(svc.settings.apiKeys({ pageSize: pageSize(options) }), options);
        const columns = [
          { title: 'CREATED', value: (row: (typeof rows)[number]) => time(row.createdAt) },
          { title: 'ID', value: (row: (typeof rows)[number]) => row.id },
          { title: 'KIND', value: (row: (typeof rows)[number]) => row.kind },
          { title: 'REVOKED', value: (row: (typeof rows)[number]) => time(row.revokedAt) },
          { title: 'KEY', value: (row: (typeof rows)[number]) => row.key },
        ];
        out.list(rows, columns, 'There are no keys.');
      }),
    );
  keys
    .command('create')
    .addArgument(new Argument('<kind>').choices(keyKinds))
    .description('make a key; a secret key is shown this once')
    .action(
      action(async ({ svc, out }, _, kind) => {
        const key = await svc.settings.createApiKey({ kind: kind as (typeof keyKinds)[number] });
        out.answer(key, () =>
          key.secretKey === null
            ? `${key.key}\n`
            : `${key.secretKey}\nKeep it now: it is not shown again. Its id is ${key.id}.`,
        );
      }),
    );
  keys
    .command('revoke')
    .argument('<id>', 'of the key, from svc keys')
    .option('-y, --yes', 'do not ask')
    .description('revoke a key, at once and everywhere')
    .action(
      action<{ yes?: boolean }>(async ({ svc, out }, { yes }, id) => {
        await out.confirm(`Revoke ${id}? Every program that uses it stops working.`, yes);
        const answer = await svc.settings.revokeApiKey({ id });
        out.answer({ id, ...answer }, () => `${id} is revoked.`);
      }),
    );
  return keys;
}

export function settingsCommand(): Command {
  const settings = group('settings', 'show and change the settings of your environment');
  settings
    .command('show', { isDefault: true })
    .description('show the settings')
    .action(
      action(async ({ svc, out }) => {
        const found = await svc.settings.getSettings();
        out.answer(found, () => facts(Object.entries(found)));
      }),
    );
  settings
    .command('set')
    .argument('<changes...>', `name=value, or name= to clear: ${settingNames.join(', ')}`)
    .description('change settings, all of them or none')
    .action(
      action(async ({ svc, out }, _, ...given) => {
        const changes = given.flat();
        const read = changes.map(parseSetting);
        const names = new Set(read.map(([name]) => name));
        if (names.size !== read.length) throw usage('A setting is named twice. Name each once.');
        const found = await svc.settings.updateSettings(Object.fromEntries(read));
        out.answer(found, () => facts(Object.entries(found)));
      }),
    );
  return settings;
}
