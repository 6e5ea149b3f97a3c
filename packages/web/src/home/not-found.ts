import '../ui/tokens.css';
import '../ui/base.css';
import './home.css';
import { readStored } from '../ui/storage.ts';

const theme = readStored('svc-theme');
if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
