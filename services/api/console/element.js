/**
 * An element of the page. Children are elements or texts, and a text is always shown as it is: nothing that a message holds
 * is taken for HTML. `on…` properties are listeners, `null` and `false` are left out.
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

/** A labelled input; `hint` is read out with it. */
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

/** A box to tick, with its label. */
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
 * A form that cannot be sent twice at once. `send` gets its fields' values by name (a box: whether it is ticked); what it
 * returns is shown as good news, the message of what it throws as bad. `clear` empties the fields when all went well.
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

/** A line of good, bad or other news. */
export function note(text, kind = '') {
  return element('p', { class: `note ${kind}`, role: kind === 'bad' ? 'alert' : 'status' }, text);
}

/** A card in the middle of the page, for one thing to do. */
export function narrowCard(title, ...children) {
  return element('section', { class: 'card narrow' }, element('h1', {}, title), ...children);
}
