import type { Message } from '../../api/wire.ts';

/** The host of a web address, or the scheme of another URL. */
function targetOf(url: string): string {
  const { protocol, host } = new URL(url);
  return protocol === 'https:' || protocol === 'http:' ? host : protocol;
}

function ExternalLink({ url, label }: { readonly url: string; readonly label: string }) {
  return (
    <a class="button small" href={url} title={url} target="_blank" rel="noopener noreferrer nofollow">
      <bdi>{label}</bdi>
    </a>
  );
}

/**
 * Where a message leads: its link and the actions that open a page. The console sends no requests to other hosts, so it
 * only names the actions that a phone runs.
 */
export function Leads({ click, actions }: Pick<Message, 'click' | 'actions'>) {
  const shown = actions.filter(({ action }) => action !== 'ack');
  if (click === null && shown.length === 0) return null;
  return (
    <div class="leads">
      {click !== null && <ExternalLink url={click} label={`Open ${targetOf(click)}`} />}
      {shown.map((action, index) =>
        action.action === 'view' ? (
          <ExternalLink key={index} url={action.url} label={action.label} />
        ) : (
          <span key={index} class="badge" title="This action runs on a phone.">
            <bdi>{action.label}</bdi> (on phones)
          </span>
        ),
      )}
    </div>
  );
}
