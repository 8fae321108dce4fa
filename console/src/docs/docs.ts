/** The page of `/docs`: `/openapi.json` in OpenAPI Explorer, with the look of the console. */
import 'openapi-explorer/dist/browser/openapi-explorer.min.js';
import { chooseTheme, theme } from '../parts/theme.ts';
import '../styles/tokens.css';
import '../styles/base.css';
import './docs.css';
import explorerStyles from './explorer.css?inline';

chooseTheme(theme.value);

// Its elements are in a shadow tree, which styles of the page do not reach.
const { shadowRoot } = document.querySelector('openapi-explorer')!;
const sheet = new CSSStyleSheet();
sheet.replaceSync(explorerStyles);
shadowRoot!.adoptedStyleSheets.push(sheet);
