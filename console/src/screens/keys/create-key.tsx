import { useState } from 'preact/hooks';
import { ExpiryFields, expiryOf } from '../../parts/expiry.tsx';
import { Checkbox, Field, Form, Select, type FormValues } from '../../parts/form.tsx';
import { scopeTexts } from './scopes.ts';

const chosen = 'chosen';
const scopes = Object.entries(scopeTexts);

/** The body of the request that creates the key. */
function keyOfForm(values: FormValues): object {
  const access = values.text('access');
  return {
    name: values.text('key_name'),
    scopes:
      access === chosen
        ? scopes.map(([scope]) => scope).filter((scope) => values.isChecked(`scope-${scope}`))
        : access.split(' '),
    ...expiryOf(values),
  };
}

export function CreateKey({ create }: { readonly create: (json: object) => Promise<void> }) {
  const [access, setAccess] = useState('publish');
  return (
    <details class="create">
      <summary>Create a key …</summary>
      <Form action="Create key" send={(values) => create(keyOfForm(values))}>
        <Field
          id="key_name"
          label="Name"
          dir="auto"
          required
          maxLength={80}
          autocomplete="off"
          hint="The program that uses it."
        />
        <div class="columns">
          <Select
            id="access"
            label="May"
            value={access}
            onChange={setAccess}
            options={[
              ['publish', 'Publish messages'],
              ['subscribe', 'Read messages'],
              ['publish subscribe', 'Publish and read messages'],
              ['*', 'Do everything that you can'],
              [chosen, 'Do what you choose …'],
            ]}
          />
          <ExpiryFields />
        </div>
        {access === chosen && (
          <fieldset class="scopes">
            <legend>Scopes</legend>
            {scopes.map(([scope, text]) => (
              <Checkbox key={scope} id={`scope-${scope}`} label={`${text} (${scope})`} />
            ))}
          </fieldset>
        )}
      </Form>
    </details>
  );
}
