/** The element with this id; the page is ours, so a missing one is a mistake of ours. */
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

/** Good news goes by itself; what went wrong stays until the next step. */
const NEWS_MS = 6_000;
let fading: ReturnType<typeof setTimeout> | undefined;

export function notify(text: string, kind: 'well' | 'wrong' = 'well'): void {
  const notice = find('notice', HTMLElement);
  notice.textContent = text;
  notice.className = kind;
  clearTimeout(fading);
  if (text !== '' && kind === 'well') fading = setTimeout(() => notify(''), NEWS_MS);
}

/** Holds the button while the work goes on, and tells what went wrong in the error's own words. */
export async function busy(held: HTMLButtonElement, text: string, work: () => Promise<void>): Promise<void> {
  const idleText = held.textContent;
  held.disabled = true;
  held.textContent = text;
  notify('');
  try {
    await work();
  } catch (error) {
    notify(error instanceof Error ? error.message : String(error), 'wrong');
  } finally {
    held.disabled = false;
    held.textContent = idleText;
  }
}

export function onSubmit(id: string, text: string, work: () => Promise<void>): void {
  form(id).addEventListener('submit', (event) => {
    event.preventDefault();
    const held = form(id).querySelector<HTMLButtonElement>('button.main');
    if (held && !held.disabled) void busy(held, text, work);
  });
}

export async function copy(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
  notify('Copied.');
}
