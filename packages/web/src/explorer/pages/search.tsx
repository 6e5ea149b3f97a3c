import { useQuery } from '@tanstack/react-query';
import { SearchX } from 'lucide-react';
import { useEffect } from 'react';
import { LinkButton } from '../../ui/button.tsx';
import { useWords } from '../../ui/language.ts';
import { EmptyState, ErrorNote, PageHeader, Skeleton } from '../../ui/page.tsx';
import { find } from '../chain.ts';
import { useOpen, useSearchText } from '../navigation.tsx';
import { useBook } from '../shared.tsx';
import { words } from '../words.ts';

/** Goes on to what the text names; stays only where it names nothing. */
export default function SearchPage() {
  const text = useWords(words);
  const query = useSearchText('q');
  const book = useBook();
  const open = useOpen();
  const { data, error, refetch } = useQuery({
    queryKey: ['find', query],
    queryFn: () => find(book, query),
    staleTime: 0,
    gcTime: 0,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each answer
  useEffect(() => {
    if (data && data.kind !== 'nothing') open(`/${data.kind}/${data.id}`, true);
  }, [data]);
  return (
    <>
      <PageHeader title={text.searchResults} description={<span className="mono hash-full">{query}</span>} />
      {error ? (
        <ErrorNote error={error} retry={() => void refetch()} />
      ) : data?.kind === 'nothing' ? (
        <EmptyState
          icon={SearchX}
          title={text.nothing}
          action={
            <>
              <LinkButton to="/">{text.back}</LinkButton>
              {data.why === 'hash' && <LinkButton to={`/account/${hexOf(query)}`}>{text.openAnyway}</LinkButton>}
            </>
          }
        >
          <p>
            {data.why === 'number' && text.nothingNumber(query)}
            {data.why === 'hash' && text.nothingHash}
            {data.why === 'form' && text.nothingForm}
          </p>
          <p>{text.nothingTips}</p>
        </EmptyState>
      ) : (
        <Skeleton lines={6} />
      )}
    </>
  );
}

const hexOf = (text: string) => `0x${text.trim().replace(/^0x/i, '').toLowerCase()}`;
