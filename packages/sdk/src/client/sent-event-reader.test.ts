import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Random, SEED } from '../../test/random.ts'
import { SentEventReader } from './sent-event-reader.ts'

const TEXT =
  ': comment\nevent: points\nid: 7\ndata: {"a":1}\n\ndata:two\r\ndata: lines\r\n\r\nevent: none\n\nid: 8\rdata\r\rretry: 5\ndata: end\n\n'
const EVENTS = [
  { name: 'points', data: '{"a":1}', lastId: '7' },
  { name: 'message', data: 'two\nlines', lastId: '7' },
  { name: 'message', data: '', lastId: '8' },
  { name: 'message', data: 'end', lastId: '8' },
]

test('events are the same in pieces of any size', () => {
  assert.deepEqual(new SentEventReader().read(TEXT), EVENTS)
  const random = new Random(SEED)
  for (let round = 0; round < 200; round++) {
    const reader = new SentEventReader()
    const events = []
    for (let at = 0; at < TEXT.length; ) {
      const to = at + random.integer(1, 9)
      events.push(...reader.read(TEXT.slice(at, to)))
      at = to
    }
    assert.deepEqual(events, EVENTS)
  }
})

test('an event without end is refused', () => {
  const reader = new SentEventReader()
  const piece = 'x'.repeat(8 << 20)
  assert.throws(() => {
    for (let i = 0; i < 9; i++) reader.read(piece)
  }, RangeError)
})
