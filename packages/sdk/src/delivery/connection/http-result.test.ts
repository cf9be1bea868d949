import assert from 'node:assert/strict'
import { test } from 'node:test'
import { httpResult } from './http-result.ts'

test('takes 2xx for delivered, what may pass for a reason to try again, and all else for refused', async () => {
  const outcomeOf = async (status: number) => (await httpResult(new Response(null, { status }))).outcome
  for (const status of [200, 202, 204]) assert.equal(await outcomeOf(status), 'ok', String(status))
  for (const status of [401, 403, 404, 408, 425, 429, 500, 502, 503, 504, 599])
    assert.equal(await outcomeOf(status), 'retry')
  for (const status of [301, 304, 400, 405, 413, 415, 422]) assert.equal(await outcomeOf(status), 'reject')
})

test('says the status and the first line of the answer, cut where it is long', async () => {
  const reject = await httpResult(new Response('unknown field\nat line 3', { status: 400 }))
  assert.deepEqual(reject, { outcome: 'reject', reason: 'HTTP 400 unknown field', because: 'content' })
  const forged = await httpResult(new Response('no\r\u001b[2Jlevel=info all is well', { status: 400 }))
  assert.ok(forged.outcome === 'reject' && forged.reason === 'HTTP 400 no\\u000d\\u001b[2Jlevel=info all is well')
  const long = await httpResult(new Response('x'.repeat(10_000), { status: 500 }))
  assert.ok(long.outcome === 'retry' && long.reason.length === 200)
})

test('does not read an answer that goes on for ever', async () => {
  let cancelled = false
  const body = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(1000)),
    cancel: () => {
      cancelled = true
    },
  })
  assert.equal((await httpResult(new Response(body, { status: 200 }))).outcome, 'ok')
  assert.equal(cancelled, true)
})

test('passes on how long the far end asks to be left alone', async () => {
  const headers = { 'retry-after': '7' }
  const result = await httpResult(new Response(null, { status: 429, headers }))
  assert.deepEqual(result, { outcome: 'retry', reason: 'HTTP 429', afterMs: 7000 })
})
