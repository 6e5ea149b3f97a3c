export function find<T extends HTMLElement>(id: string, type: new () => T): T {
  const element = document.getElementById(id);
  if (element instanceof type) return element;
  throw new Error(`The page has no ${type.name} #${id}.`);
}

export const button = (id: string) => find(id, HTMLButtonElement);
export const input = (id: string) => find(id, HTMLInputElement);
export const form = (id: string) => find(id, HTMLFormElement);

const screens = ['sign-in', 'create', 'home'] as const;

export function show(screen: (typeof screens)[number]): void {
  for (const name of screens) find(name, HTMLElement).hidden = name !== screen;
}

/** Success messages disappear; errors stay until the next step. */
const SUCCESS_MS = 6_000;
let hideTimer: ReturnType<typeof setTimeout> | undefined;

export function notify(text: string, kind: 'success' | 'wrong' = 'success'): void {
  const notice = find('notice', HTMLElement);
  notice.textContent = text;
  notice.className = kind;
  clearTimeout(hideTimer);
  if (text !== '' && kind === 'success') hideTimer = setTimeout(() => notify(''), SUCCESS_MS);
}

/** Disables the button while the work runs, and shows the error's message. */
export async function busy(target: HTMLButtonElement, text: string, work: () => Promise<void>): Promise<void> {
  const idleText = target.textContent;
  target.disabled = true;
  target.textContent = text;
  notify('');
  try {
    await work();
  } catch (error) {
    notify(error instanceof Error ? error.message : String(error), 'wrong');
  } finally {
    target.disabled = false;
    target.textContent = idleText;
  }
}

export function onSubmit(id: string, text: string, work: () => Promise<void>): void {
  form(id).addEventListener('submit', (event) => {
    event.preventDefault();
    const target = form(id).querySelector<HTMLButtonElement>('button.main');
    if (target && !target.disabled) void busy(target, text, work);
  });
}

export async function copy(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
  notify('Copied.');
}
