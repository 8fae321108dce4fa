/**
 * Creates an element. Children are elements or strings; strings are inserted as text, so message content is never
 * parsed as HTML. `on…` properties are event listeners. Omits `null` and `false`.
 */
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === false) continue;
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? '' : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== false));
  return made;
}

/** A labelled input. Screen readers announce `hint` with it. */
export function field({ id, label, hint, tag = 'input', options, ...properties }) {
  const input = element(
    tag,
    {
      id,
      name: id,
      type: tag === 'input' ? 'text' : null,
      'aria-describedby': hint ? `${id}-hint` : null,
      ...properties,
    },
    (options ?? []).map(([value, text]) => element('option', { value, selected: value === properties.value }, text)),
  );
  return element(
    'div',
    { class: 'field' },
    element('label', { for: id }, label),
    input,
    hint ? element('p', { class: 'hint', id: `${id}-hint` }, hint) : null,
  );
}

/** A labelled checkbox. */
export function checkbox({ id, label, ...properties }) {
  return element(
    'div',
    { class: 'field' },
    element(
      'label',
      { class: 'check' },
      element('input', { id, name: id, type: 'checkbox', ...properties }),
      element('span', {}, label),
    ),
  );
}

/**
 * A form that cannot be submitted twice concurrently. `send` receives the field values by name (a checkbox: a boolean).
 * The form shows its result as success and the message of its error as failure. `clear` resets the fields after
 * success.
 */
export function form({ action, send, clear = false, isPlain = false }, ...fields) {
  const note = element('p', { class: 'note', role: 'status' });
  const button = element('button', { type: 'submit', class: isPlain ? 'plain' : null }, action);
  const made = element(
    'form',
    {
      async onsubmit(event) {
        event.preventDefault();
        button.disabled = true;
        show(note, '', '');
        try {
          const values = Object.fromEntries(
            [...made.elements]
              .filter(({ name }) => name)
              .map((input) => [input.name, input.type === 'checkbox' ? input.checked : input.value]),
          );
          show(note, 'good', (await send(values)) ?? '');
          if (clear) made.reset();
        } catch (error) {
          show(note, 'bad', error.message);
        } finally {
          button.disabled = false;
        }
      },
    },
    ...fields,
    note,
    button,
  );
  return made;
}

function show(note, kind, text) {
  note.className = `note ${kind}`;
  note.textContent = text;
}

/** A line of text; `kind` is `good`, `bad` or empty. */
export function note(text, kind = '') {
  return element('p', { class: `note ${kind}`, role: kind === 'bad' ? 'alert' : 'status' }, text);
}

/** A centered card for a single task. */
export function narrowCard(title, ...children) {
  return element('section', { class: 'card narrow' }, element('h1', {}, title), ...children);
}
