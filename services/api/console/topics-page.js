import { checkbox, element, field, form } from './element.js';
import { navigate } from './navigate.js';
import { call } from './session.js';

const pageSize = 50;

/** The paginated topics of the account and a form to create one. */
export async function topicsPage() {
  const list = element('ul', { class: 'plain' });
  const more = element('button', { type: 'button', class: 'plain', onclick: () => load() }, 'Show more');
  const empty = element('p', { class: 'soft' }, 'You have no topics yet. Create one below to publish messages.');
  async function load() {
    const topics = await call('GET', `/api/topics/my?limit=${pageSize}&offset=${list.children.length}`);
    list.append(...topics.map(topicLine));
    more.hidden = topics.length < pageSize;
    empty.hidden = list.children.length > 0;
  }
  await load();
  return element(
    'div',
    {},
    element(
      'section',
      { class: 'card', 'aria-labelledby': 'mine' },
      element('h1', { id: 'mine' }, 'My topics'),
      list,
      empty,
      more,
    ),
    openForm(),
    createForm(),
  );
}

function topicLine(topic) {
  const count = `${topic.message_count} ${topic.message_count === 1 ? 'message' : 'messages'}`;
  return element(
    'li',
    { class: 'topic' },
    element(
      'div',
      {},
      element('a', { href: `/console/topics/${topic.name}` }, topic.name),
      topic.description ? element('div', { class: 'soft' }, topic.description) : null,
    ),
    element('div', { class: 'soft' }, element('span', { class: 'badge' }, topic.access_level), ` ${count}`),
  );
}

/** Anyone who knows the name of a public topic can open it, even if it is not listed. */
function openForm() {
  return element(
    'section',
    { class: 'card', 'aria-labelledby': 'open' },
    element('h2', { id: 'open' }, 'Open a topic'),
    form(
      { action: 'Open', send: ({ open_name: name }) => navigate(`/console/topics/${encodeURIComponent(name)}`) },
      field({ id: 'open_name', label: 'Topic name', required: true, maxlength: '64', autocomplete: 'off' }),
    ),
  );
}

function createForm() {
  return element(
    'section',
    { class: 'card', 'aria-labelledby': 'create' },
    element('h2', { id: 'create' }, 'Create a topic'),
    form(
      {
        action: 'Create topic',
        async send({ name, description, access_level, is_discoverable }) {
          const topic = await call('POST', '/api/topics', {
            json: { name, description, access_level, is_discoverable },
          });
          navigate(`/console/topics/${topic.name}`);
        },
      },
      element(
        'div',
        { class: 'row' },
        field({
          id: 'name',
          label: 'Name',
          required: true,
          maxlength: '64',
          autocomplete: 'off',
          hint: 'Letters, digits, dashes and underscores.',
        }),
        field({
          id: 'access_level',
          label: 'Access',
          tag: 'select',
          options: [
            ['public', 'Anyone who knows the name'],
            ['private', 'Only accounts with access'],
          ],
        }),
      ),
      field({ id: 'description', label: 'Description', maxlength: '1000', hint: 'Required for a listed topic.' }),
      checkbox({ id: 'is_discoverable', label: 'List the topic in the topic search' }),
    ),
  );
}
