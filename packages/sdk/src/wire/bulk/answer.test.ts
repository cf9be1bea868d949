import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property } from '../../../test/helper.ts'
import { readBulkAnswer } from './answer.ts'

const item = (status: number, error?: unknown) => ({ create: { _index: 'sonde', status, error } })

test('reads the status of each item; a conflict is a document that is there already', () => {
  const error = {
    type: 'mapper_parsing_exception',
    reason: 'failed to parse field [speed]',
    caused_by: { type: 'illegal_argument_exception', reason: 'out of\nrange' },
  }
  const items = [
    item(201),
    item(400, error),
    item(429, { type: 'es_rejected', reason: 'full' }),
    item(409),
    item(503),
    item(403),
  ]
  assert.deepEqual(readBulkAnswer(JSON.stringify({ errors: true, items }), 6), {
    faults: [
      {
        index: 1,
        isTransient: false,
        reason: '400 mapper_parsing_exception: failed to parse field [speed]: out of range',
      },
      { index: 2, isTransient: true, reason: '429 es_rejected: full' },
      { index: 4, isTransient: true, reason: '503' },
      { index: 5, isTransient: true, reason: '403' },
    ],
  })
  assert.deepEqual(readBulkAnswer('{"errors":false,"items":[]}', 5), { faults: [] })
})

test('an answer for other records, or none at all, is no answer', () => {
  const texts = [
    '',
    '<html>',
    'null',
    '[]',
    '{}',
    '{"errors":true}',
    JSON.stringify({ errors: true, items: [item(400)] }),
  ]
  for (const text of texts) assert.equal(readBulkAnswer(text, 2), undefined)
  for (const broken of [null, 1, {}, { create: null }, { create: { status: '400' } }])
    assert.equal(readBulkAnswer(JSON.stringify({ errors: true, items: [broken] }), 1), undefined)
})

property('never throws, and names only items that exist', 300, (random) => {
  const any = (depth: number): unknown =>
    random.pick([
      () => random.integer(-5, 600),
      () => 'text',
      () => null,
      () => (depth > 3 ? 1 : Array.from({ length: random.integer(0, 3) }, () => any(depth + 1))),
      () => (depth > 3 ? {} : { create: any(depth + 1), status: any(depth + 1), error: any(depth + 1) }),
    ])()
  const answer = readBulkAnswer(JSON.stringify({ errors: true, items: [any(0), any(0)] }), 2)
  for (const { index, reason } of answer?.faults ?? []) assert.ok(index < 2 && reason.length <= 200)
})
