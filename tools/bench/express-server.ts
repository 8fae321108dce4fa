import express from 'express';

// One Express 5 route that only reads a text and responds with a message object.
const app = express();
app.post('/:topic', express.text({ type: () => true }), (request, response) => {
  response.json({ id: '00000000-0000-0000-0000-000000000000', message: request.body as string });
});
const server = app.listen(0, '127.0.0.1', () =>
  process.stdout.write(`${(server.address() as { port: number }).port}\n`),
);
