import assert from 'node:assert/strict';
import { test } from 'node:test';

import { misshapen } from './shapes.js';

const TASK = {
  taskId: 'a',
  status: 'working',
  createdAt: '2026-07-28T12:00:00.000Z',
  lastUpdatedAt: '2026-07-28T12:00:00.000Z',
  ttlMs: null,
};
const RESULT = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] };

/** @param {string} method @param {object} result */
function ofResult(method, result) {
  return misshapen({ jsonrpc: '2.0', id: 1, result }, method);
}

test('a task has the shape of its status', () => {
  assert.equal(ofResult('tasks/get', { ...TASK, resultType: 'complete' }), undefined);
  const completed = { ...TASK, resultType: 'complete', status: 'completed' };
  assert.equal(ofResult('tasks/get', { ...completed, result: RESULT }), undefined);
  assert.ok(ofResult('tasks/get', completed));
  assert.ok(ofResult('tasks/get', { ...completed, result: { content: 'done' } }));
  assert.ok(ofResult('tasks/get', TASK));
});

test('a call gives a result or a task', () => {
  assert.equal(ofResult('tools/call', RESULT), undefined);
  assert.equal(ofResult('tools/call', { ...TASK, resultType: 'task' }), undefined);
  assert.ok(ofResult('tools/call', { ...TASK, resultType: 'task', ttlMs: 'none' }));
  assert.ok(ofResult('tools/call', { resultType: 'complete' }));
});

test('discovery has the extension with nothing in it', () => {
  const discovered = (/** @type {unknown} */ settings) =>
    ofResult('server/discover', { capabilities: { extensions: { 'io.modelcontextprotocol/tasks': settings } } });
  assert.equal(discovered({}), undefined);
  assert.ok(discovered({ list: true }));
});

test('a notification is a whole task', () => {
  const notification = { jsonrpc: '2.0', method: 'notifications/tasks' };
  assert.equal(misshapen({ ...notification, params: TASK }, undefined), undefined);
  assert.ok(misshapen({ ...notification, params: { taskId: 'a' } }, undefined));
});

test('an error has a code and a message', () => {
  assert.equal(misshapen({ jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'no' } }, 'tasks/get'), undefined);
  assert.ok(misshapen({ jsonrpc: '2.0', id: 1, error: { code: 'no' } }, 'tasks/get'));
});
