import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AgentWatch } from './agent-watch.ts'
import type { WebhookEvent } from './event.ts'

/** A watch that looks when the test says so, at the agents that the test names; undefined fails. */
function watch() {
  const events: WebhookEvent[] = []
  let present: readonly string[] | undefined = []
  let next: (() => void) | undefined
  const one = new AgentWatch({
    present: async () => {
      if (present === undefined) throw new Error('no answer')
      return present
    },
    sign: 'samples',
    notify: (event) => void events.push(event),
    timers: {
      nowMs: () => 0,
      after: (_, run) => {
        next = run
        return () => {
          next = undefined
        }
      },
    },
  })
  const look = async (names: readonly string[] | undefined) => {
    present = names
    if (next === undefined) one.start()
    else next()
    next = undefined
    while (next === undefined) await new Promise((resolve) => setImmediate(resolve))
    return events.splice(0).map(({ type, status, data }) => `${type} ${data.agent} ${status}`)
  }
  return { one, look, isWaiting: () => next !== undefined }
}

test('an agent is gone after two looks without it, and returns', async () => {
  const { one, look, isWaiting } = watch()
  assert.deepEqual(await look(['a:9394', 'b:9394']), [])
  assert.deepEqual(await look(['a:9394']), [])
  assert.deepEqual(await look(['a:9394']), ['agent.gone b:9394 error'])
  assert.deepEqual(await look(['a:9394']), [])
  assert.deepEqual(await look(['a:9394', 'b:9394']), ['agent.returned b:9394 success'])
  assert.deepEqual(await look(['a:9394']), [], 'it counts anew')
  assert.deepEqual(await look(['a:9394', 'b:9394']), [])
  one.stop()
  assert.equal(isWaiting(), false)
})

test('while the server gives no answer, no agent is gone', async () => {
  const { one, look } = watch()
  assert.deepEqual(await look(['a:9394']), [])
  for (let count = 0; count < 5; count++) assert.deepEqual(await look(undefined), [])
  assert.deepEqual(await look([]), [])
  assert.deepEqual(await look([]), ['agent.gone a:9394 error'])
  one.stop()
})
