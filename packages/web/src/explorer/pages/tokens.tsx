import { useWords } from '../../ui/language.ts';
import { Card, PageHeader } from '../../ui/page.tsx';
import { type Column, DataTable } from '../../ui/table.tsx';
import { Hash } from '../../ui/values.tsx';
import { readSupplies } from '../chain.ts';
import type { Token } from '../decode.ts';
import { Amount, useBook, useChain } from '../shared.tsx';
import { words } from '../words.ts';

export default function TokensPage() {
  const text = useWords(words);
  const book = useBook();
  const { data: supplies } = useChain(['supplies'], () => readSupplies(book));
  const columns: Column<Token>[] = [
    { key: 'symbol', label: text.symbol, cell: ({ symbol }) => symbol },
    { key: 'name', label: text.name, cell: ({ name }) => name },
    { key: 'address', label: text.address, cell: ({ address }) => <Hash value={address} /> },
    {
      key: 'decimals',
      label: text.decimals,
      align: 'end',
      cell: ({ decimals }) => <span className="number">{decimals}</span>,
    },
    {
      key: 'supply',
      label: text.supply,
      align: 'end',
      cell: (token) => {
        const supply = supplies?.get(token.token);
        return supply === undefined ? '–' : <Amount value={supply} token={token} />;
      },
    },
  ];
  return (
    <>
      <PageHeader title={text.tokens} />
      <Card flush>
        <DataTable
          label={text.tokens}
          columns={columns}
          rows={book.tokens}
          rowKey={({ token }) => token}
          rowTo={({ address }) => `/account/${address}`}
          empty={null}
        />
      </Card>
    </>
  );
}
