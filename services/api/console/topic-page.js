import { element, field, form, note } from './element.js';
import { loginPath } from './navigate.js';
import { call, CallFailed, session } from './session.js';
import { openStream } from './stream.js';

/** Limits the page while a busy topic stays open. */
const shownMax = 500;

/**
 * A topic: stored and live messages, newest first, and a form to publish. `closing` is aborted when the user leaves the
 * page.
 */
export async function topicPage({ item: name, closing }) {
  let topic;
  let history;
  try {
    topic = await call('GET', `/api/topics/${encodeURIComponent(name)}`);
    history = await call('GET', `/${encodeURIComponent(name)}/json?limit=50`);
  } catch (error) {
    if (error instanceof CallFailed && [401, 403, 404].includes(error.status)) return refused(name, error);
    throw error;
  }
  const state = element('span', { class: 'badge', role: 'status' }, 'connecting …');
  const list = element('div', { id: 'messages' });
  const empty = element('p', { class: 'soft' }, 'No messages yet.');
  const shown = messageList(list, empty);
  for (const message of history.messages) shown.add(message, false);
  openStream(topic.name, history.messages.at(-1)?.id ?? null, closing, {
    onState(text) {
      state.textContent = text;
      state.classList.toggle('live', text === 'live');
    },
    onMessage: (message) => shown.add(message, true),
    onEdited: shown.replace,
    onDeleted: shown.remove,
  });
  return element(
    'div',
    {},
    element(
      'div',
      { class: 'head' },
      element('h1', {}, topic.name),
      element('span', { class: 'badge' }, topic.access_level),
      state,
    ),
    topic.description ? element('p', { class: 'soft' }, topic.description) : null,
    element(
      'section',
      { class: 'card', 'aria-labelledby': 'publish' },
      element('h2', { id: 'publish' }, 'Publish'),
      publishForm(topic.name),
    ),
    element('section', { 'aria-labelledby': 'history' }, element('h2', { id: 'history' }, 'Messages'), empty, list),
  );
}

function refused(name, error) {
  const needsLogin = session() === null && error.status !== 404;
  return element(
    'section',
    { class: 'card' },
    element('h1', {}, name),
    note(error.message, 'bad'),
    element(
      'p',
      { class: 'links' },
      needsLogin ? element('a', { href: loginPath() }, 'Log in') : null,
      element('a', { href: '/console' }, 'My topics'),
    ),
  );
}

function publishForm(topic) {
  return form(
    {
      action: 'Publish',
      clear: true,
      async send({ message, title, priority, tags }) {
        await call('POST', '/', { json: { topic, message, title: title || null, priority: Number(priority), tags } });
      },
    },
    field({ id: 'message', label: 'Message', tag: 'textarea', required: true }),
    element(
      'div',
      { class: 'row' },
      field({ id: 'title', label: 'Title', maxlength: '250', autocomplete: 'off' }),
      field({ id: 'tags', label: 'Tags', autocomplete: 'off', placeholder: 'db, ok' }),
      field({
        id: 'priority',
        label: 'Priority',
        tag: 'select',
        value: '3',
        options: [
          ['5', '5, highest'],
          ['4', '4, high'],
          ['3', '3, default'],
          ['2', '2, low'],
          ['1', '1, lowest'],
        ],
      }),
    ),
  );
}

/** Shows each message once, newest first. */
function messageList(list, empty) {
  const byId = new Map();
  const update = () => {
    empty.hidden = byId.size > 0;
  };
  return {
    add(message, isNew) {
      if (byId.has(message.id)) return;
      const card = messageCard(message, isNew);
      byId.set(message.id, card);
      list.prepend(card);
      if (byId.size > shownMax) {
        const [[oldestId, oldest]] = byId;
        oldest.remove();
        byId.delete(oldestId);
      }
      update();
    },
    replace(message) {
      const card = messageCard(message, false);
      byId.get(message.id)?.replaceWith(card);
      if (byId.has(message.id)) byId.set(message.id, card);
    },
    remove({ id }) {
      byId.get(id)?.remove();
      byId.delete(id);
      update();
    },
  };
}

function messageCard(message, isNew) {
  const time = new Date(message.timestamp);
  return element(
    'article',
    { class: `message p${message.priority}${isNew ? ' new' : ''}` },
    message.title === null ? null : element('h3', {}, message.title),
    element('p', { class: 'text' }, message.message),
    element(
      'p',
      { class: 'meta' },
      element('time', { datetime: message.timestamp }, time.toLocaleString()),
      message.priority === 3 ? null : element('span', {}, `priority ${message.priority}`),
      message.is_edited ? element('span', {}, 'edited') : null,
      message.tags.map((tag) => element('span', { class: 'badge' }, tag)),
    ),
  );
}
