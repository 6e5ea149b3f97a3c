// The pure parts of a release: its version, its changelog, its manifests.

export const bumps = ['patch', 'minor', 'major'] as const;
export type Bump = (typeof bumps)[number];

const VERSION = /^(\d+)\.(\d+)\.(\d+)$/;
const UNRELEASED = '## [Unreleased]';
const SCOPE = '@svc/';

/** The version to release: one that is named, a bump of the current one, or the current one if it has no release yet. */
export function nextVersion(current: string, changelog: string, wanted: string | undefined): string {
  if (wanted === undefined) return isReleased(changelog, current) ? bump(current, 'patch') : current;
  const version = isBump(wanted) ? bump(current, wanted) : wanted;
  if (!VERSION.test(version)) throw new Error(`"${wanted}" is neither a version nor one of: ${bumps.join(', ')}.`);
  if (isReleased(changelog, version)) throw new Error(`CHANGELOG.md has a section for ${version} already.`);
  return version;
}

export function bump(version: string, by: Bump): string {
  const [, major, minor, patch] = VERSION.exec(version)?.map(Number) ?? [];
  if (major === undefined || minor === undefined || patch === undefined) throw new Error(`"${version}" is no version.`);
  if (by === 'major') return `${major + 1}.0.0`;
  return by === 'minor' ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}

/** Moves the entries under Unreleased into a section of the version, and leaves Unreleased empty. */
export function releaseChangelog(changelog: string, version: string, date: string): string {
  const [head, rest] = split(changelog);
  const end = rest.search(/^## \[/m);
  const entries = (end < 0 ? rest : rest.slice(0, end)).trim();
  if (entries === '') throw new Error('CHANGELOG.md has nothing under Unreleased.');
  const older = end < 0 ? '' : `\n${rest.slice(end)}`;
  return `${head}${UNRELEASED}\n\n## [${version}] - ${date}\n\n${entries}\n${older}`;
}

export interface Manifest {
  version?: string;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/** Our packages depend on one another in exactly the same version. */
export function setVersion<T extends Manifest>(manifest: T, version: string): T {
  const own = (versions: Record<string, string>) =>
    Object.fromEntries(Object.entries(versions).map(([name, old]) => [name, name.startsWith(SCOPE) ? version : old]));
  const { dependencies, peerDependencies } = manifest;
  return {
    ...manifest,
    version,
    ...(dependencies && { dependencies: own(dependencies) }),
    ...(peerDependencies && { peerDependencies: own(peerDependencies) }),
  };
}

export interface LockFile extends Manifest {
  packages: Record<string, Manifest>;
}

/** Entries of installed packages stay as they are. */
export function setLockVersion(lock: LockFile, version: string): LockFile {
  const isOurs = (place: string) => place === '' || (place.startsWith('packages/') && !place.includes('node_modules'));
  const packages = Object.entries(lock.packages).map(([place, entry]) => [
    place,
    isOurs(place) ? setVersion(entry, version) : entry,
  ]);
  return { ...lock, version, packages: Object.fromEntries(packages) };
}

const isBump = (text: string): text is Bump => (bumps as readonly string[]).includes(text);

const isReleased = (changelog: string, version: string) => changelog.includes(`\n## [${version}]`);

function split(changelog: string): [head: string, rest: string] {
  const at = changelog.indexOf(`${UNRELEASED}\n`);
  if (at < 0) throw new Error(`CHANGELOG.md has no section "${UNRELEASED}".`);
  return [changelog.slice(0, at), changelog.slice(at + UNRELEASED.length + 1)];
}
