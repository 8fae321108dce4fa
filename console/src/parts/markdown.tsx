import MarkdownIt, { type Token } from 'markdown-it';
import { Fragment, h, type ComponentChild } from 'preact';

const parser = new MarkdownIt({ html: false, linkify: true, breaks: true }).disable('image');

/**
 * Markdown as elements. Only the parser's own elements appear, with `href` and `start` as their only attributes, and no
 * text is ever parsed as HTML. The parser rejects links with `javascript:` and similar schemes.
 */
export function Markdown({ text }: { readonly text: string }) {
  return <Fragment>{render(parser.parse(text, {}))}</Fragment>;
}

function render(tokens: readonly Token[]): ComponentChild[] {
  const root: ComponentChild[] = [];
  const open: { token: Token; children: ComponentChild[] }[] = [];
  const append = (child: ComponentChild) => (open.at(-1)?.children ?? root).push(child);
  for (const token of tokens) {
    if (token.nesting === 1) open.push({ token, children: [] });
    else if (token.nesting === -1) {
      const { token: opened, children } = open.pop()!;
      append(opened.hidden ? children : h(opened.tag, attributesOf(opened), children));
    } else append(leaf(token));
  }
  return root;
}

function leaf(token: Token): ComponentChild {
  if (token.type === 'inline') return render(token.children ?? []);
  if (token.type === 'code_block' || token.type === 'fence') return <pre>{h('code', {}, token.content)}</pre>;
  if (token.type === 'code_inline') return <code>{token.content}</code>;
  if (token.type === 'softbreak' || token.type === 'hardbreak') return <br />;
  return token.type === 'hr' ? <hr /> : token.content;
}

function attributesOf(token: Token): Record<string, string> {
  if (token.tag === 'ol') return { start: String(token.attrGet('start') ?? 1) };
  if (token.tag !== 'a') return {};
  return { href: String(token.attrGet('href') ?? ''), target: '_blank', rel: 'noopener noreferrer nofollow' };
}
