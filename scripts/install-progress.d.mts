interface LockedPackage {
  readonly link?: boolean;
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly libc?: readonly string[];
}

export function packagesToInstall(
  lock: { readonly packages: Readonly<Record<string, LockedPackage>> },
  machine: { readonly platform: string; readonly arch: string },
): string[];
export function countInstalled(root: string, packages: readonly string[]): number;
export function describeProgress(progress: {
  readonly installed: number;
  readonly total: number;
  readonly seconds: number;
}): string;
