import type { AuditEntry } from '../../api/wire.ts';
import { completeTime } from '../../parts/time/times.ts';
import { actionTexts } from './action-texts.ts';
import { formatNumber } from './numbers.ts';

/** An entry of the audit log. Names and user agents come from users. */
export function AuditRow({ entry }: { readonly entry: AuditEntry }) {
  const { action, actor, subject, origin, details, count, timestamp } = entry;
  const isAboutActor = subject !== null && subject.id === actor.id;
  const facts = Object.entries(details).filter(([, value]) => value !== null && value !== '' && value !== false);
  return (
    <li class="audit-row">
      <div class="grow">
        <div>
          <strong>{actionTexts[action]}</strong>
          {subject !== null && !isAboutActor && (
            <>
              {': '}
              <bdi class="name" title={`${subject.type} ${subject.id}`}>
                {subject.name ?? subject.id}
              </bdi>
            </>
          )}{' '}
          {count > 1 && <span class="badge">{formatNumber(count)} times</span>}
        </div>
        <div class="soft">
          by <bdi title={actor.id ?? undefined}>{actor.name ?? actor.id ?? actor.type}</bdi> through{' '}
          {actor.through.replaceAll('_', ' ')}
          {origin.address !== null && (
            <>
              {' from '}
              <bdi>{origin.address}</bdi>
            </>
          )}
        </div>
        {facts.length > 0 && (
          <dl class="details">
            {facts.map(([name, value]) => (
              <div key={name}>
                <dt>{name.replaceAll('_', ' ')}</dt>
                <dd dir="auto">{textOf(value)}</dd>
              </div>
            ))}
          </dl>
        )}
        {origin.user_agent !== null && (
          <div class="soft agent" dir="auto">
            {origin.user_agent}
          </div>
        )}
      </div>
      <time class="soft" dateTime={timestamp}>
        {completeTime(timestamp)}
      </time>
    </li>
  );
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
