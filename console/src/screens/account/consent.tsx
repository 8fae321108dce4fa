import { call } from '../../api/call.ts';
import type { Consent as ConsentEntry } from '../../api/wire.ts';
import { Section } from '../../parts/card.tsx';
import { Loading } from '../../parts/loading.tsx';
import { completeTime } from '../../parts/time/times.ts';
import { toast, toastError } from '../../parts/toasts.tsx';
import { useLoad } from '../../parts/use-load.ts';

export function Consent() {
  const { loaded, reload } = useLoad(
    () => call<{ consents: ConsentEntry[] }>('GET', '/auth/consent-history'),
    'consents',
  );
  const accept = async () => {
    try {
      await call('POST', '/auth/accept-terms', { json: { accepted: true, consent_method: 'console' } });
      toast('You accepted the current terms.');
      await reload();
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <Section
      title="Terms"
      aside={
        <button type="button" class="button" onClick={() => void accept()}>
          Accept the current terms
        </button>
      }
    >
      <Loading loaded={loaded} retry={reload} rows={1}>
        {({ consents }) => (
          <ul class="rows">
            {consents.map((consent) => (
              <li key={consent.id}>
                <span class="grow">
                  {consent.consent_type}, version {consent.document_version}
                </span>
                <span class="soft">{completeTime(consent.accepted_at)}</span>
              </li>
            ))}
            {consents.length === 0 && <li class="soft">No terms accepted yet.</li>}
          </ul>
        )}
      </Loading>
    </Section>
  );
}
