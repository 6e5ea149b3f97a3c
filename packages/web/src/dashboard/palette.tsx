import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { CornerDownLeft, type LucideIcon, Search as SearchIcon } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { words as uiWords } from '../ui/words.ts';
import { useEnvironment } from './environment.ts';
import { useNavigateTo } from './navigation.ts';
import { fallbackIcon, visiblePages } from './page-table.ts';
import { type Hit, searches } from './searches.ts';
import { useSession } from './session.tsx';
import { words } from './words/shell.ts';
import { useWords } from './words.ts';

interface Item extends Hit {
  readonly icon: LucideIcon;
}

interface Group {
  readonly value: string;
  readonly items: Item[];
}

const MIN_SEARCH_LENGTH = 2;
const PAUSE_MS = 200;

/** Finds pages and records by keyboard. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const text = useWords(words);
  const { close } = useWords(uiWords);
  const navigate = useNavigateTo();
  const [query, setQuery] = useState('');
  const pages = usePages(query);
  const { groups, isSearching } = useRecords(query);
  const items = [...(pages.items.length > 0 ? [pages] : []), ...groups];
  const open = ({ to }: Hit) => {
    onClose();
    navigate(to);
  };
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Viewport className="palette-place">
          <Dialog.Popup className="dialog palette" aria-label={text.search}>
            <Autocomplete.Root
              open
              inline
              items={items}
              filter={null}
              autoHighlight="always"
              keepHighlight
              value={query}
              onValueChange={setQuery}
              itemToStringValue={(item: Item) => item.label}
            >
              <div className="palette-input">
                <SearchIcon size={18} aria-hidden className="soft" />
                <Autocomplete.Input className="input" aria-label={text.search} placeholder={text.searchFor} />
              </div>
              <Dialog.Close className="hidden">{close}</Dialog.Close>
              <Autocomplete.Status className="palette-status soft">
                {isSearching ? text.searching : null}
              </Autocomplete.Status>
              <Autocomplete.Empty className="palette-empty soft">
                {isSearching ? null : text.noResults}
              </Autocomplete.Empty>
              <Autocomplete.List className="palette-list">
                {(group: Group) => (
                  <Autocomplete.Group key={group.value} items={group.items}>
                    <Autocomplete.GroupLabel className="menu-label">{group.value}</Autocomplete.GroupLabel>
                    <Autocomplete.Collection>
                      {(item: Item) => (
                        <Autocomplete.Item
                          key={item.to}
                          value={item}
                          className="menu-item palette-item"
                          onClick={() => open(item)}
                        >
                          <item.icon size={16} aria-hidden className="soft" />
                          <span className="grow">{item.label}</span>
                          {item.note && <span className="soft">{item.note}</span>}
                          <CornerDownLeft size={14} aria-hidden className="palette-enter soft" />
                        </Autocomplete.Item>
                      )}
                    </Autocomplete.Collection>
                  </Autocomplete.Group>
                )}
              </Autocomplete.List>
              <p className="palette-hint soft">{text.searchHint}</p>
            </Autocomplete.Root>
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function usePages(query: string): Group {
  const text = useWords(words);
  const { isOperator } = useSession();
  const wanted = plain(query);
  const items = visiblePages(useEnvironment(), isOperator)
    .filter(({ group, isFound }) => group || isFound)
    .map(({ name, path, icon = fallbackIcon, group }) => ({
      label: text.pages[name],
      to: path,
      icon,
      ...(group && group !== 'main' && group !== 'sandbox' && { note: text.groups[group] }),
    }))
    .filter(({ label, note = '' }) => plain(`${note} ${label}`).includes(wanted));
  return { value: text.navigation, items };
}

/** Without accents and case. */
const plain = (text: string) =>
  text
    .trim()
    .normalize('NFD')
    .replace(/\p{Diacritic}/gu, '')
    .toLowerCase();

function useRecords(query: string): { groups: readonly Group[]; isSearching: boolean } {
  const text = useWords(words);
  const [found, setFound] = useState<{ wanted: string; hits: readonly (readonly Hit[])[] }>();
  const wanted = query.trim().length < MIN_SEARCH_LENGTH ? '' : query.trim();
  useEffect(() => {
    if (wanted === '') return undefined;
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      const results = await Promise.allSettled(searches.map(({ find }) => find(wanted, stop.signal)));
      if (stop.signal.aborted) return;
      setFound({ wanted, hits: results.map((result) => (result.status === 'fulfilled' ? result.value : [])) });
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [wanted]);
  const groups = useMemo(
    () =>
      wanted === '' || !found
        ? []
        : searches
            .map(({ page, icon }, index) => ({
              value: text.pages[page],
              items: (found.hits[index] ?? []).map((hit) => ({ ...hit, icon })),
            }))
            .filter(({ items }) => items.length > 0),
    [found, wanted, text],
  );
  return { groups, isSearching: wanted !== '' && found?.wanted !== wanted };
}
