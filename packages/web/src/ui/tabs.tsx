import { Tabs as Base } from '@base-ui/react/tabs';
import { type ReactNode, type RefObject, useEffect, useRef } from 'react';

export interface Tab {
  readonly value: string;
  readonly label: string;
  readonly content: ReactNode;
}

export interface TabsProps {
  label: string;
  tabs: readonly Tab[];
  /** Keep it in the address (`useSearchParam`), so that a link shows the same tab. */
  value: string;
  onChange: (value: string) => void;
}

/** On a narrow screen the list scrolls: what is chosen is in its middle. */
export function useChosenInView<T extends HTMLElement>(value: string): RefObject<T | null> {
  const list = useRef<T>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is chosen is read from the document
  useEffect(() => {
    const tab = list.current?.querySelector('[aria-selected="true"], [aria-current]');
    if (!list.current || !tab) return;
    const [around, chosen] = [list.current.getBoundingClientRect(), tab.getBoundingClientRect()];
    list.current.scrollLeft += chosen.left + chosen.width / 2 - (around.left + around.width / 2);
  }, [value]);
  return list;
}

export function Tabs({ label, tabs, value, onChange }: TabsProps) {
  const list = useChosenInView<HTMLDivElement>(value);
  return (
    <Base.Root value={value} onValueChange={onChange} className="tabs">
      <Base.List ref={list} className="tab-list" aria-label={label}>
        {tabs.map((tab) => (
          <Base.Tab key={tab.value} value={tab.value} className="tab">
            {tab.label}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map((tab) => (
        <Base.Panel key={tab.value} value={tab.value} className="tab-panel">
          {tab.content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
