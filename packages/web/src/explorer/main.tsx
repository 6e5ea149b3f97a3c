import { mount } from '../ui/mount.tsx';
import { PageHeader } from '../ui/page.tsx';

mount(
  <main>
    <PageHeader title="Explorer" />
  </main>,
);
