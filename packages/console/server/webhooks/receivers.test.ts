import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ReceiverValue, readReceivers, skipLine, wantsEvent } from './receivers.ts'

const URL_TEXT = 'https://hooks.example.com/services/hunter2'

function only(value: ReceiverValue) {
  const { receivers, skipped } = readReceivers({ one: value })
  assert.equal(receivers.length + skipped.length, 1)
  return { receiver: receivers[0], skipped: skipped[0] }
}

test('a receiver is a URL, an object, or the same object as text', () => {
  const expected = { name: 'one', url: URL_TEXT, urlHost: 'hooks.example.com', timeoutMs: 30_000, events: ['*'] }
  assert.deepEqual(only(URL_TEXT).receiver, expected)
  assert.deepEqual(only({ url: URL_TEXT }).receiver, expected)
  assert.deepEqual(only(` {"url": "${URL_TEXT}"} `).receiver, expected)
})

test('a timeout is a duration of Go, and anything else is 30 s', () => {
  const timeouts: Readonly<Record<string, number>> = {
    '10s': 10_000,
    '1m30s': 90_000,
    '1.5s': 1500,
    '250ms': 250,
    '10us': 1,
    '24h': 300_000,
    '0s': 30_000,
    '-5s': 30_000,
    '5': 30_000,
    soon: 30_000,
    '': 30_000,
  }
  for (const [timeout, ms] of Object.entries(timeouts))
    assert.equal(only({ url: URL_TEXT, timeout }).receiver?.timeoutMs, ms, timeout)
  assert.equal(only({ url: URL_TEXT, timeout: 7 }).receiver?.timeoutMs, 30_000)
})

describe('left out, with the reason:', () => {
  const cases: readonly (readonly [reason: string, value: ReceiverValue])[] = [
    ['empty_value', ''],
    ['empty_value', '  '],
    ['invalid_json', `{"url": "${URL_TEXT}"`],
    ['invalid_json', '{url: x}'],
    ['empty_url_in_json', '{}'],
    ['empty_url_in_json', '{"timeout": "10s"}'],
    ['empty_url_in_json', '{"url": ""}'],
    ['empty_url_in_json', '{"url": 7}'],
    ['unknown_key', { url: URL_TEXT, secret_fil: '/etc/hunter2' }],
    ['invalid_value', { url: URL_TEXT, events: 'hint.*' }],
    ['invalid_value', { url: URL_TEXT, secret_file: 7 }],
    ['invalid_url', 'hooks.example.com/hunter2'],
    ['invalid_url', 'ftp://hooks.example.com/hunter2'],
    ['invalid_url', 'http://169.254.169.254/hunter2'],
  ]
  for (const [reason, value] of cases) {
    test(`${reason}: ${JSON.stringify(value)}`, () => {
      const { skipped } = only(value)
      assert.ok(skipped)
      assert.equal(skipLine(skipped), `ns=webhook_parse at=skip reason=${reason} name=one`)
      assert.ok(!skipped.message.includes('hunter2'), skipped.message)
    })
  }

  test('the others stay', () => {
    const { receivers, skipped } = readReceivers({ bad: '{', good: URL_TEXT })
    assert.deepEqual([receivers.map(({ name }) => name), skipped.map(({ name }) => name)], [['good'], ['bad']])
  })
})

test('a receiver gets the types that it wants', () => {
  const { receiver } = only({ url: URL_TEXT, events: ['hint.*', 'traceback.opened'] })
  assert.ok(receiver)
  const types = ['hint.opened', 'hint.ended', 'traceback.opened', 'traceback.ended', 'hints', 'hint']
  assert.deepEqual(
    types.filter((type) => wantsEvent(receiver, type)),
    ['hint.opened', 'hint.ended', 'traceback.opened'],
  )
})
