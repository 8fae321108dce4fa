const parsing = /^(inner|outer|set)HTML|^dangerouslySetInnerHTML$|^insertAdjacentHTML$|^write(ln)?$/;

/** Reports the properties and functions of a browser that parse text as HTML. */
export const textNotHtml = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { html: 'External input must be inserted as text, never parsed as HTML.' },
  },
  create({ report }) {
    const check = (node) => {
      if (parsing.test(node.name)) report({ node, messageId: 'html' });
    };
    return { Identifier: check, JSXIdentifier: check };
  },
};
