import { existsSync } from 'node:fs';
import path from 'node:path';

const BAR_WIDTH = 24;

/** Folders of the lock file's packages that fit this machine. */
export function packagesToInstall({ packages }, { platform, arch }) {
  const fits = (names, name) => {
    if (!names) return true;
    const refused = [names]
      .flat()
      .filter((entry) => entry.startsWith('!'))
      .map((entry) => entry.slice(1));
    return refused.length > 0 ? !refused.includes(name) : names.includes(name);
  };
  return Object.entries(packages)
    .filter(([folder, { link, os, cpu, libc }]) => {
      if (!folder.includes('node_modules/') || link) return false;
      return fits(os, platform) && fits(cpu, arch) && !libc?.includes('musl');
    })
    .map(([folder]) => folder);
}

export const countInstalled = (root, packages) =>
  packages.filter((folder) => existsSync(path.join(root, folder, 'package.json'))).length;

export function describeProgress({ installed, total, seconds }) {
  const share = total === 0 ? 1 : installed / total;
  const filled = Math.round(share * BAR_WIDTH);
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
  const step = installed === 0 ? 'reading the lock file and downloading' : `${installed} of ${total} packages`;
  return `${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${step}, ${seconds} s`;
}
