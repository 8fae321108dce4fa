import { render } from 'preact';
import { chooseTheme, theme } from './parts/theme.ts';
import { App } from './shell/app.tsx';
import { showAppBadge } from './state/app-badge.ts';
import { openPushed } from './state/open-pushed.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/shell.css';
import './styles/screens.css';

chooseTheme(theme.value);
showAppBadge();
openPushed();
render(<App />, document.getElementById('app')!);
